from os.path import join

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class AsioRetry(ConanFile):
    """conan create packaging/conan: the source tree that this lies in, as a package with a test of it."""

    name = "asio_retry"
    version = "0.4.0"
    license = "BSL-1.0"
    description = "Retrying operations for Boost.Asio"
    topics = ("asio", "retry", "backoff", "jitter", "coroutines")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "json": [True, False], "tool": [True, False]}
    default_options = {"shared": False, "fPIC": True, "json": True, "tool": False}
    implements = ["auto_shared_fpic"]

    def export_sources(self):
        root = join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tool/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.tool and not self.options.json:
            raise ConanInvalidConfiguration("the tool reads and writes JSON")

    def requirements(self):
        self.requires("boost/[>=1.81.0]", transitive_headers=True)
        if self.options.tool:
            self.requires("cli11/[>=2.1]")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ASIO_RETRY_JSON"] = bool(self.options.json)
        toolchain.cache_variables["ASIO_RETRY_BUILD_TOOL"] = bool(self.options.tool)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "asio_retry")
        self.cpp_info.set_property("cmake_target_name", "asio_retry::all")  # both components
        core = self.cpp_info.components["asio_retry"]
        core.set_property("cmake_target_name", "asio_retry::asio_retry")
        core.set_property("pkg_config_name", "asio_retry")
        core.libs = ["asio_retry"]
        core.requires = ["boost::headers"]
        core.system_libs = ["pthread"] if self.settings.os in ("Linux", "FreeBSD") else []
        core.defines = ["ASIO_RETRY_SHARED"] if self.options.shared else []
        if self.options.json:
            json = self.cpp_info.components["json"]
            json.set_property("cmake_target_name", "asio_retry::json")
            json.libs = ["asio_retry_json"]
            json.requires = ["asio_retry", "boost::json"]
