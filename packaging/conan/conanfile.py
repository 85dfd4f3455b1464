"""The C++ runtime and the programs of MF/IDL for Conan 2:

    pip install mfidl==0.1.0
    conan create packaging/conan --build=missing

The compiler comes from PyPI, as it is a Python program; the recipe asks for the one of its own version.
"""

import os
import shutil
import subprocess

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

_TREE = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "cmake/*",
    "cli/mf_tools/dash/page/*",
    "runtime/cpp/*",
    "runtime/idl/*",
)
_LIBRARIES = ("mf_groups", "mf_runtime", "mf_protocol", "mf_asio", "mf_core")


class MfIdl(ConanFile):
    name = "mf-idl"
    version = "0.1.0"
    description = "MF/IDL: one interface file in, fast C++ and Python services out"
    license = "Apache-2.0"
    topics = ("rpc", "idl", "serialization")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"fPIC": [True, False]}
    default_options = {"fPIC": True}

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for pattern in _TREE:
            copy(self, pattern, tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("openssl/[>=3 <4]", transitive_libs=True)
        self.requires("boost/[>=1.81]", options={"header_only": True}, transitive_headers=True)
        self.requires("cli11/[>=2.3]")

    def validate(self):
        check_min_cppstd(self, "20")
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"mf-idl is for Linux, and not for {self.settings.os}")

    def validate_build(self):
        program = shutil.which("mfidlc")
        said = (
            ""
            if program is None
            else subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        )
        if self.version not in said.split():
            raise ConanInvalidConfiguration(
                f"mfidlc {self.version} was not found: pip install mfidl=={self.version}"
            )

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # the tree has presets of its own
        toolchain.cache_variables["MF_PRODUCT_ONLY"] = True
        toolchain.cache_variables["MF_UNITY"] = True
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for component in ("runtime", "controller"):
            CMake(self).install(component=component)

    def package_info(self):
        # Projects find what the tree itself installs: find_package(mfidl), with mfidl_generate().
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "mfidl"))
        self.cpp_info.libs = list(_LIBRARIES)
        self.cpp_info.system_libs = ["pthread"]
