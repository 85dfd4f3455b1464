// Headers that define macros and global functions, included before generated code.
#include <cstdio>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cmath>
#include <climits>
#include <cstdint>
#include <cstdarg>
#include <csetjmp>
#include <sys/sysmacros.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
