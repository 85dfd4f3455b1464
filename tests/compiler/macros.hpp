// Macros of Qt, X11, Windows and POSIX, as their headers define them: for tests that public and generated
// headers compile behind them (tests/compiler/test_cpp_macros.py). NOLINTBEGIN
#pragma once
// Qt
#undef emit
#define emit
#undef signals
#define signals public
#undef slots
#define slots
#undef foreach
#define foreach(a, b) for (a : b)
#undef forever
#define forever for (;;)
#undef Q_EMIT
#define Q_EMIT
// X11
#undef Bool
#define Bool int
#undef Status
#define Status int
#undef True
#define True 1
#undef False
#define False 0
#undef None
#define None 0L
#undef Always
#define Always 2
#undef Success
#define Success 0
#undef Complex
#define Complex 0
#undef Convex
#define Convex 2
#undef Unsorted
#define Unsorted 0
#undef Above
#define Above 0
#undef Below
#define Below 1
#undef BottomIf
#define BottomIf 3
#undef TopIf
#define TopIf 2
#undef Opposite
#define Opposite 4
#undef KeyPress
#define KeyPress 2
#undef KeyRelease
#define KeyRelease 3
#undef ButtonPress
#define ButtonPress 4
#undef FocusIn
#define FocusIn 9
#undef FocusOut
#define FocusOut 10
#undef Expose
#define Expose 12
#undef GrayScale
#define GrayScale 1
#undef AnyKey
#define AnyKey 0L
#undef AutoRepeatModeOn
#define AutoRepeatModeOn 1
#undef BadRequest
#define BadRequest 1
#undef BadValue
#define BadValue 2
#undef BadName
#define BadName 15
#undef BadLength
#define BadLength 16
#undef ControlMask
#define ControlMask 4
#undef CurrentTime
#define CurrentTime 0L
#undef DestroyAll
#define DestroyAll 0
#undef DirectColor
#define DirectColor 5
#undef PseudoColor
#define PseudoColor 3
#undef StaticColor
#define StaticColor 2
#undef TrueColor
#define TrueColor 4
#undef InputOnly
#define InputOnly 2
#undef InputOutput
#define InputOutput 1
#undef IsViewable
#define IsViewable 2
#undef NoSymbol
#define NoSymbol 0L
#undef ParentRelative
#define ParentRelative 1L
#undef Button1
#define Button1 1
#undef LockMask
#define LockMask 2
#undef PointerRoot
#define PointerRoot 1L
#undef ReplayKeyboard
#define ReplayKeyboard 5
#undef RetainPermanent
#define RetainPermanent 1
#undef WhenMapped
#define WhenMapped 1
#undef ZPixmap
#define ZPixmap 2
#undef XYBitmap
#define XYBitmap 0
#undef YXSorted
#define YXSorted 2
#undef YSorted
#define YSorted 1
#undef AllTemporary
#define AllTemporary 0L
#undef AllValues
#define AllValues 0xF
// Windows
#undef min
#define min(a, b) (((a) < (b)) ? (a) : (b))
#undef max
#define max(a, b) (((a) > (b)) ? (a) : (b))
#undef ERROR
#define ERROR 0
#undef OUT
#define OUT
#undef OPTIONAL
#define OPTIONAL
#undef interface
#define interface struct
#undef small
#define small char
#undef near
#define near
#undef far
#define far
#undef NEAR
#define NEAR
#undef FAR
#define FAR
#undef huge
#define huge
#undef cdecl
#define cdecl
#undef pascal
#define pascal
#undef hyper
#define hyper int
#undef DELETE
#define DELETE 0x10000
#undef CONST
#define CONST const
#undef VOID
#define VOID void
#undef TRUE
#define TRUE 1
#undef FALSE
#define FALSE 0
#undef NO_ERROR
#define NO_ERROR 0
#undef STRICT
#define STRICT 1
#undef IGNORE
#define IGNORE 0
#undef INFINITE
#define INFINITE 0xFFFFFFFF
#undef CALLBACK
#define CALLBACK
#undef WINAPI
#define WINAPI
#undef APIENTRY
#define APIENTRY
#undef ABSOLUTE
#define ABSOLUTE 1
#undef RELATIVE
#define RELATIVE 2
#undef ALTERNATE
#define ALTERNATE 1
#undef TRANSPARENT
#define TRANSPARENT 1
#undef OPAQUE
#define OPAQUE 2
#undef BOOL
#define BOOL int
#undef CHAR
#define CHAR char
#undef INT
#define INT int
#undef SHORT
#define SHORT short
#undef LONG
#define LONG long
#undef THIS
#define THIS void
#undef PURE
#define PURE 0
#undef UNICODE
#define UNICODE 1
#undef GetMessage
#define GetMessage GetMessageW
#undef SendMessage
#define SendMessage SendMessageW
#undef PostMessage
#define PostMessage PostMessageW
#undef CreateFile
#define CreateFile CreateFileW
#undef DeleteFile
#define DeleteFile DeleteFileW
#undef CreateEvent
#define CreateEvent CreateEventW
#undef CreateMutex
#define CreateMutex CreateMutexW
#undef CreateService
#define CreateService CreateServiceW
#undef GetObject
#define GetObject GetObjectW
#undef GetClassName
#define GetClassName GetClassNameW
#undef GetCurrentTime
#define GetCurrentTime() 0
#undef GetFreeSpace
#define GetFreeSpace(w) 0x100000
#undef GetUserName
#define GetUserName GetUserNameW
#undef LoadLibrary
#define LoadLibrary LoadLibraryW
#undef FindText
#define FindText FindTextW
#undef ReportEvent
#define ReportEvent ReportEventW
#undef RegisterClass
#define RegisterClass RegisterClassW
#undef Yield
#define Yield()
#undef rad1
#define rad1 1
#undef rad2
#define rad2 2
#undef grp1
#define grp1 3
#undef lst1
#define lst1 4
#undef MessageBox
#define MessageBox MessageBoxW
#undef ReplaceText
#define ReplaceText ReplaceTextW
#undef StartService
#define StartService StartServiceW
#undef UpdateResource
#define UpdateResource UpdateResourceW
#undef AddJob
#define AddJob AddJobW
#undef GetJob
#define GetJob GetJobW
#undef SetPort
#define SetPort SetPortW
#undef environ
#define environ (*_environ)
// POSIX, glibc
#undef major
#define major(x) ((x) >> 8)
#undef minor
#define minor(x) ((x) & 255)
#undef makedev
#define makedev(x, y) 0
#undef unix
#define unix 1
#undef linux
#define linux 1
#undef i386
#define i386 1
#undef st_atime
#define st_atime st_atim.tv_sec
#undef BLOCK_SIZE
#define BLOCK_SIZE 1024
#undef PAGE_SIZE
#define PAGE_SIZE 4096
#undef howmany
#define howmany(x, y) 0
#undef roundup
#define roundup(x, y) 0
#undef EOF
#define EOF (-1)
#undef LOG_ERR
#define LOG_ERR 3
#undef LOG_DEBUG
#define LOG_DEBUG 7
#undef OVERFLOW
#define OVERFLOW 3
#undef UNDERFLOW
#define UNDERFLOW 4
#undef DOMAIN
#define DOMAIN 1
// NOLINTEND
