"""Runs the recipe for Conan, and its test package, as Conan would, with modules that stand in for Conan's.

The library is configured from the sources that the recipe exports. What BINARY_DIR has built is then packed.
"""
import argparse
import fnmatch
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import types

parser = argparse.ArgumentParser()
for path in ("source-dir", "binary-dir", "work-dir", "cache", "cmake"):
    parser.add_argument(f"--{path}", type=pathlib.Path, required=True)
parser.add_argument("--version", required=True)
parser.add_argument("--tool", action="store_true")
given = parser.parse_args()
work = given.work_dir
sys.dont_write_bytecode = True


def fail(message):
    sys.exit(f"conan: {message}")


def run(*command):
    ended = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode != 0:
        fail(f"{command} ends with {ended.returncode}:\n{ended.stdout}")


class Bag:
    """Attributes and nothing more, as Conan's settings, options and descriptions are to a recipe."""

    def __init__(self, **values):
        self.__dict__.update(values)


class Described(Bag):
    def __init__(self):
        super().__init__(libs=[], requires=[], system_libs=[], defines=[], properties={}, components={})

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Described()
        return self[name]


class ConanFile:
    def __init__(self, folder, build):
        self.recipe_folder = str(folder)
        self.settings = Bag(os="Linux", arch="x86_64", compiler="gcc", build_type="Debug")
        self.export_sources_folder = self.source_folder = str(work / "source")
        self.package_folder = str(work / "package")
        self.build_folder = str(build)
        self.required = []
        self.cpp = Bag(build=Bag(bindir=str(build)))
        self.cpp_info = Described()
        self.cpp_info.components = Components()
        self.generated = None

    def requires(self, reference, transitive_headers=False):
        self.required.append((reference, transitive_headers))

    def run(self, command, env):
        run(command)


def copy(recipe, pattern, src, dst):
    # Not all that is there, which may be a build.
    first, *more = pattern.split("/", 1)
    candidates = (pathlib.Path(src) / first).rglob("*") if more else [pathlib.Path(src) / first]
    found = [file for file in candidates if file.is_file() and fnmatch.fnmatch(str(file.relative_to(src)), pattern)]
    if not found:
        fail(f"no file is {pattern} in {src}")
    for file in found:
        target = pathlib.Path(dst) / file.relative_to(src)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.generated = self.cache_variables


class CMakeDeps:
    def __init__(self, recipe):
        pass

    def generate(self):
        """Nothing: Boost is that of the machine."""


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        recipe = self.recipe
        values = dict(recipe.generated or {}, CMAKE_BUILD_TYPE=recipe.settings.build_type, CMAKE_PREFIX_PATH=work / "generated")
        definitions = [f"-D{name}={ {True: 'ON', False: 'OFF'}.get(value, value)}" for name, value in values.items()]
        run(given.cmake, "-S", recipe.source_folder, "-B", recipe.build_folder, "-G", "Ninja", *definitions, "-C", given.cache)

    def build(self):
        if self.recipe.generated is None:
            run(given.cmake, "--build", self.recipe.build_folder)
            return
        built = list(given.binary_dir.glob("libasio_retry*.a"))
        if given.tool:
            built += [given.binary_dir / "src/tool" / name for name in ("asio-retry", "asio-retry.1", "asio-retry.bash", "_asio-retry")]
        for file in built:
            target = pathlib.Path(self.recipe.build_folder) / file.relative_to(given.binary_dir)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(file, target)

    def install(self):
        run(given.cmake, "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(content)


asked_standard = []
module("conan", ConanFile=ConanFile)
module("conan.tools")
module("conan.errors", ConanInvalidConfiguration=type("ConanInvalidConfiguration", (Exception,), {}))
module("conan.tools.build", check_min_cppstd=lambda recipe, least: asked_standard.append(least), can_run=lambda recipe: True)
module("conan.tools.cmake", CMake=CMake, CMakeDeps=CMakeDeps, CMakeToolchain=CMakeToolchain, cmake_layout=lambda recipe: None)
module("conan.tools.files", copy=copy)


def recipe_in(folder):
    spec = importlib.util.spec_from_file_location("recipe", folder / "conanfile.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    (recipe,) = [value for value in vars(loaded).values() if isinstance(value, type) and issubclass(value, ConanFile) and value is not ConanFile]
    return recipe


def choose(recipe, **chosen):
    """The recipe's own defaults, but for what is chosen, each of which must be one that it knows."""
    values = dict(recipe.default_options, **chosen)
    for name, value in values.items():
        if value not in recipe.options[name]:
            fail(f"{name}={value} is no option")
    return Bag(**values)


shutil.rmtree(work, ignore_errors=True)
folder = given.source_dir / "packaging/conan"
kind = recipe_in(folder)
if kind.version != given.version:
    fail(f"it is of version {kind.version}")

# What cannot be is refused before anything is built.
refused = kind(folder, work / "build")
refused.options = choose(kind, json=False, tool=True)
try:
    refused.validate()
    fail("the tool is not refused without JSON")
except sys.modules["conan.errors"].ConanInvalidConfiguration:
    pass

library = kind(folder, work / "build")
library.options = choose(kind, tool=given.tool)
library.export_sources()
library.layout()
library.validate()
library.requirements()
library.generate()
library.build()
library.package()
library.package_info()
if asked_standard[-1] != 20 or ("boost/[>=1.81.0]", True) not in library.required:
    fail(f"it asks for C++{asked_standard} and {library.required}")
if not (work / "package/licenses/LICENSE").is_file():
    fail("there is no license")

# What it says of the package is what is in it, and what CMake's own description says.
components = library.cpp_info.components
described = sorted(name for part in components.values() for name in part.libs)
packed = sorted(file.stem.removeprefix("lib") for file in (work / "package/lib").glob("lib*"))
if described != packed:
    fail(f"{described} are described, and {packed} packed")
(config,) = (work / "package/lib").rglob("asio_retry-targets.cmake")
for part in components.values():
    if f"add_library({part.properties['cmake_target_name']} " not in config.read_text():
        fail(f"{part.properties['cmake_target_name']} is no target")
whole = library.cpp_info.properties.get("cmake_target_name", f"{kind.name}::{kind.name}")
if whole in [part.properties["cmake_target_name"] for part in components.values()]:
    fail(f"{whole} is a part and the whole, and so would link what is in other parts")
shared = kind(folder, work / "build")
shared.options = choose(kind, shared=True)
shared.package_info()
if shared.cpp_info.components["asio_retry"].defines != ["ASIO_RETRY_SHARED"]:
    fail("who links the shared library does not know it")

# What CMakeDeps would write for a program, from nothing but that description. Boost's part is that of the machine.
lines = ["find_package(Threads REQUIRED)"]
for name, part in components.items():
    target = part.properties["cmake_target_name"]
    links = [components[other].properties["cmake_target_name"] for other in part.requires if not other.startswith("boost::")]
    lines += [
        f"add_library({target} INTERFACE IMPORTED)",
        f'target_include_directories({target} INTERFACE "{work}/package/include")',
        f'target_link_directories({target} INTERFACE "{work}/package/lib")',
        f"target_link_libraries({target} INTERFACE {' '.join(part.libs + links + part.system_libs)})",
    ]
package = work / "generated" / f"{library.cpp_info.properties['cmake_file_name']}-config.cmake"
package.parent.mkdir()
package.write_text("\n".join(lines) + "\n")

# The test of the package, with a program that compiles faster than its own, which the tests of consumers run too.
test = work / "test_package"
shutil.copytree(folder / "test_package", test)
shutil.copy(pathlib.Path(__file__).parent / "program.cpp", test / "main.cpp")
tested = recipe_in(test)(test, work / "test_build")
tested.source_folder = str(test)
tested.tested_reference_str = f"{kind.name}/{kind.version}"
tested.requirements()
if tested.required != [("asio_retry/" + given.version, False)]:
    fail(f"the test package requires {tested.required}")
tested.layout()
tested.build()
tested.test()
