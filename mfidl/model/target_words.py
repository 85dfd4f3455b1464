"""F3. The words that no name of the schema can be in a target language. Generators rename what collides with
them; a name that the schema prescribes may not be one.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CPP_KEYWORDS = _words(
    """
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
    break case catch char char8_t char16_t char32_t class compl concept const consteval constexpr
    constinit const_cast continue co_await co_return co_yield decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch synchronized template this thread_local throw true try typedef typeid typename union unsigned
    using virtual void volatile wchar_t while xor xor_eq
    """
)

# Macros of the C and POSIX headers, and of the compilers in their GNU dialect, that a schema may well use as
# names. (C headers that take `major` from sys/sysmacros.h still exist.)
CPP_MACROS = _words(
    """
    BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN DBL_MAX DBL_MIN DOMAIN EDOM EOF ERANGE ERROR EXIT_FAILURE
    EXIT_SUCCESS FALSE FILENAME_MAX FLT_MAX FLT_MIN FOPEN_MAX HUGE_VAL INFINITY INT_MAX INT_MIN IN OUT
    LONG_MAX LONG_MIN L_tmpnam NAN NDEBUG NULL OPTIONAL OVERFLOW PATH_MAX RAND_MAX SEEK_CUR SEEK_END
    SEEK_SET SHRT_MAX SHRT_MIN SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_ERR SIG_IGN
    SIZE_MAX TMP_MAX TRUE UCHAR_MAX UINT_MAX ULONG_MAX UNDERFLOW USHRT_MAX assert errno linux major
    makedev minor offsetof setjmp stderr stdin stdout unix va_arg va_copy va_end va_start
    """
)

# What may not name anything in generated C++, whatever the scope: `mf` and `std` because everything is found
# through them, the rest because the preprocessor or the language has it.
CPP_RESERVED = CPP_KEYWORDS | CPP_MACROS | {"mf", "std", "override", "final"}

PYTHON_KEYWORDS = _words(
    """
    False None True and as assert async await break class continue def del elif else except finally for
    from global if import in is lambda nonlocal not or pass raise return try while with yield
    """
)

# Builtins and soft keywords stay usable as names of fields and methods; a generator reserves in a scope of
# its own what its code uses there. `mf` is the runtime's package.
PYTHON_RESERVED = PYTHON_KEYWORDS | {"mf", "__debug__"}

# Python packages that many programs import, with their distributions: those whose interfaces have their
# names, and those whose names modules are likely to have. Python finds only one of two packages of one name.
PYTHON_PACKAGES = {
    "aiohttp": "aiohttp",
    "airflow": "apache-airflow",
    "anyio": "anyio",
    "attr": "attrs",
    "attrs": "attrs",
    "avro": "avro",
    "bokeh": "bokeh",
    "boto3": "boto3",
    "bs4": "beautifulsoup4",
    "bson": "pymongo",
    "cassandra": "cassandra-driver",
    "cbor2": "cbor2",
    "celery": "celery",
    "click": "click",
    "cryptography": "cryptography",
    "cv2": "opencv-python",
    "dask": "dask",
    "dateutil": "python-dateutil",
    "django": "Django",
    "docker": "docker",
    "duckdb": "duckdb",
    "elasticsearch": "elasticsearch",
    "etcd3": "etcd3",
    "fastapi": "fastapi",
    "flask": "Flask",
    "Glacier2": "zeroc-ice",
    "google.protobuf": "protobuf",
    "graphql": "graphql-core",
    "grpc": "grpcio",
    "h5py": "h5py",
    "hdfs": "hdfs",
    "httpx": "httpx",
    "Ice": "zeroc-ice",
    "IceBox": "zeroc-ice",
    "IceGrid": "zeroc-ice",
    "IceMX": "zeroc-ice",
    "IcePatch2": "zeroc-ice",
    "IceStorm": "zeroc-ice",
    "influxdb": "influxdb",
    "jax": "jax",
    "jinja2": "Jinja2",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "kazoo": "kazoo",
    "keras": "keras",
    "kubernetes": "kubernetes",
    "ldap": "python-ldap",
    "lxml": "lxml",
    "markdown": "Markdown",
    "matplotlib": "matplotlib",
    "mf": "mf-runtime",
    "mfidl": "mfidl",
    "mlflow": "mlflow",
    "msgpack": "msgpack",
    "mysql": "mysql-connector-python",
    "nats": "nats-py",
    "networkx": "networkx",
    "numba": "numba",
    "numpy": "numpy",
    "onnx": "onnx",
    "opentelemetry.proto": "opentelemetry-proto",
    "oracledb": "oracledb",
    "packaging": "packaging",
    "pandas": "pandas",
    "paramiko": "paramiko",
    "pika": "pika",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "polars": "polars",
    "psutil": "psutil",
    "psycopg": "psycopg",
    "psycopg2": "psycopg2",
    "pyarrow": "pyarrow",
    "pydantic": "pydantic",
    "pymongo": "pymongo",
    "pyspark": "pyspark",
    "pytest": "pytest",
    "pytz": "pytz",
    "ray": "ray",
    "redis": "redis",
    "requests": "requests",
    "scipy": "scipy",
    "setuptools": "setuptools",
    "six": "six",
    "sklearn": "scikit-learn",
    "sqlalchemy": "SQLAlchemy",
    "starlette": "starlette",
    "sympy": "sympy",
    "tensorboard": "tensorboard",
    "tensorflow": "tensorflow",
    "thrift": "thrift",
    "torch": "torch",
    "tornado": "tornado",
    "tqdm": "tqdm",
    "transformers": "transformers",
    "trio": "trio",
    "twisted": "Twisted",
    "typing_extensions": "typing_extensions",
    "urllib3": "urllib3",
    "websocket": "websocket-client",
    "websockets": "websockets",
    "xarray": "xarray",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
