// The version of this runtime, compared with that of the compiler which has generated the including header.
// Such a header defines MF_GENERATED_BY, as major * 10000 + minor * 100 + patch, before it includes this one;
// this happens many times. Code of this minor version and of the two before it compiles; for other code the
// compiler prints one sentence and stops (docs/versions.md).
#ifndef MF_RUNTIME_VERSION
#define MF_RUNTIME_VERSION 100
#endif
// An #error alone would not stop the compiler: what the runtime lacks would follow, error by error.
#define MF_STOP "the versions of generated code and runtime differ, see the error above"
#if MF_GENERATED_BY / 100 > MF_RUNTIME_VERSION / 100
#error \
    "A newer mfidlc than the installed runtime of MF/IDL, 0.1, generated this: install its runtime (apt-get install libmf-dev), or generate the code again with mfidlc 0.1 (pip install mfidl==0.1.*)"
#include MF_STOP
#elif MF_RUNTIME_VERSION / 100 > MF_GENERATED_BY / 100 + 2
#error \
    "A mfidlc that is too old for the installed runtime of MF/IDL, 0.1, generated this: generate the code again with mfidlc 0.1 (pip install mfidl==0.1.*)"
#include MF_STOP
#endif
#undef MF_STOP
#undef MF_GENERATED_BY
