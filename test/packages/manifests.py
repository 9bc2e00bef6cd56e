#!/usr/bin/env python3
"""Checks vcpkg's manifest and Conan's recipe by the rules that the two package managers publish: manifests.py PACKAGING.

Neither program is in Debian, so neither runs. Conan: docs.conan.io/2/reference/conanfile.html
"""

import ast
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("there is no python3-jsonschema")
    sys.exit(77)

ATTRIBUTES = {
    "name", "version", "license", "description", "topics", "package_type", "settings", "options", "default_options",
    "implements", "author", "url", "homepage", "user", "channel", "exports", "exports_sources", "generators",
    "build_policy", "test_type",
}
METHODS = {
    "export", "export_sources", "config_options", "configure", "layout", "validate", "validate_build", "requirements",
    "build_requirements", "generate", "source", "build", "package", "package_info", "package_id", "test", "system_requirements",
}
PACKAGE_TYPES = {
    "application", "library", "shared-library", "static-library", "header-library", "build-scripts", "python-require", "unknown",
}

# Each makes a manifest that vcpkg refuses.
FAULTS = {
    "an unknown field": lambda m: m.update(depends=[]),
    "a capital letter": lambda m: m.update(name="Asio-Retry"),
    "an underscore in a name": lambda m: m["dependencies"].append("boost_asio"),
    "two versions": lambda m: m.update(version="1.0"),
    "no version": lambda m: m.pop("version-semver"),
    "two numbers in a version": lambda m: m.update({"version-semver": "0.3"}),
    "a dependency without a name": lambda m: m["dependencies"].append({"host": True}),
    "a text where a flag belongs": lambda m: m["dependencies"].append({"name": "zlib", "host": "yes"}),
    "a feature without a description": lambda m: m["features"]["json"].pop("description"),
    "a feature that is called core": lambda m: m["features"].update(core={"description": "all"}),
}


def check_vcpkg(folder, faults):
    schema = json.loads((pathlib.Path(__file__).parent / "vcpkg_manifest.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    manifest = json.loads((folder / "asio-retry" / "vcpkg.json").read_text())
    for error in validator.iter_errors(manifest):
        faults.append(f"vcpkg.json: {'/'.join(map(str, error.path))}: {error.message}")
    for feature in manifest["default-features"]:
        if feature not in manifest["features"]:
            faults.append(f"vcpkg.json: the default feature {feature} is none of its features")
    for name, spoil in FAULTS.items():
        spoiled = copy.deepcopy(manifest)
        spoil(spoiled)
        if validator.is_valid(spoiled):
            faults.append(f"vcpkg_manifest.json accepts {name}")


def literals(recipe):
    """The attributes of the recipe's class that are literals, and the names of all its members."""
    classes = [node for node in recipe.body if isinstance(node, ast.ClassDef)]
    assert len(classes) == 1, "a recipe has one class"
    values, members = {}, {}
    for node in classes[0].body:
        if isinstance(node, ast.Assign):
            values[node.targets[0].id] = ast.literal_eval(node.value)
        elif isinstance(node, ast.FunctionDef):
            members[node.name] = node
    return values, members


def check_conan(path, root, faults):
    values, methods = literals(ast.parse(path.read_text()))
    for name in values.keys() - ATTRIBUTES:
        faults.append(f"{path.name}: Conan knows no attribute {name}")
    for name in methods.keys() - METHODS:
        faults.append(f"{path.name}: Conan calls no method {name}")
    if values.get("package_type", "unknown") not in PACKAGE_TYPES:
        faults.append(f"{path.name}: Conan knows no package type {values['package_type']}")
    options = values.get("options", {})
    for name, value in values.get("default_options", {}).items():
        if value not in options.get(name, []):
            faults.append(f"{path.name}: the option {name} is {value} by default, which it cannot be")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "options":
            if node.attr not in options:
                faults.append(f"{path.name}: the recipe reads the option {node.attr}, which it does not have")
    if "export_sources" in methods:
        for node in ast.walk(methods["export_sources"]):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "..":
                if not list(root.glob(node.value)):
                    faults.append(f"{path.name}: nothing matches {node.value}")


def main():
    packaging = pathlib.Path(sys.argv[1])
    faults = []
    check_vcpkg(packaging / "vcpkg", faults)
    check_conan(packaging / "conan" / "conanfile.py", packaging.parent, faults)
    check_conan(packaging / "conan" / "test_package" / "conanfile.py", packaging.parent, faults)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
