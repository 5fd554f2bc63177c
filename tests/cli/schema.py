"""JSON against the schemas in schemas/: what is wrong with it, and which of the keys described it has."""

import json
import pathlib
import re

import jsonschema

FOLDER = pathlib.Path(__file__).parents[2] / "schemas"


class Schema:
    """One file of schemas/, and the places in it that what was checked has used."""

    def __init__(self, name):
        self.all = json.loads((FOLDER / f"{name}.json").read_text())
        jsonschema.Draft202012Validator.check_schema(self.all)
        self.used = set()

    def problems(self, instance):
        found = [f"{error.json_path}: {error.message}" for error in self.validator(self.all).iter_errors(instance)]
        if not found:
            self.use(self.all, "#", instance)
        return found

    def unused(self):
        """The keys that are described and that nothing checked so far has had."""
        return sorted(place for place in self.keys(self.all, "#") if place not in self.used)

    def undescribed(self):
        """The keys without a description, and objects with fixed keys that let others in."""
        found = []
        for place, node in self.nodes(self.all, "#"):
            if "properties" in node and node.get("additionalProperties") is not False:
                found.append(f"{place}: additionalProperties")
            for key, value in {**node.get("properties", {}), **node.get("patternProperties", {})}.items():
                if not value.get("description", "").strip():
                    found.append(f"{place}/{key}: description")
        return found

    def validator(self, node):
        return jsonschema.Draft202012Validator(
            node, resolver=jsonschema.RefResolver("", self.all), format_checker=jsonschema.FormatChecker()
        )

    def nodes(self, node, place):
        yield place, node
        for key in ("properties", "patternProperties", "$defs"):
            for name, below in node.get(key, {}).items():
                yield from self.nodes(below, f"{place}/{key}/{name}")
        if isinstance(node.get("items"), dict):
            yield from self.nodes(node["items"], f"{place}/items")
        for i, below in enumerate(node.get("anyOf", [])):
            yield from self.nodes(below, f"{place}/anyOf/{i}")

    def keys(self, node, place):
        for where, each in self.nodes(node, place):
            for kind in ("properties", "patternProperties"):
                for name in each.get(kind, {}):
                    yield f"{where}/{kind}/{name}"

    def use(self, node, place, instance):
        """Notes the keys of a valid `instance`."""
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            self.use(self.all["$defs"][name], f"#/$defs/{name}", instance)
        for i, below in enumerate(node.get("anyOf", [])):
            if self.validator(below).is_valid(instance):
                self.use(below, f"{place}/anyOf/{i}", instance)
        if isinstance(instance, list) and isinstance(node.get("items"), dict):
            for each in instance:
                self.use(node["items"], f"{place}/items", each)
        if isinstance(instance, dict):
            for key, value in instance.items():
                self.use_key(node, place, key, value)

    def use_key(self, node, place, key, value):
        if key in node.get("properties", {}):
            self.used.add(f"{place}/properties/{key}")
            self.use(node["properties"][key], f"{place}/properties/{key}", value)
        for pattern in node.get("patternProperties", {}):
            if re.search(pattern, key):
                self.used.add(f"{place}/patternProperties/{pattern}")


def read_strictly(text):
    """As JSON defines it: NaN and Infinity are no numbers."""

    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)
