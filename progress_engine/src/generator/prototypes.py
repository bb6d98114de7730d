# SPDX-License-Identifier: BSD-3-Clause
"""The functions that an MPI's own mpi.h declares."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

HEADERS = """#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
"""


@dataclass(frozen=True)
class Function:
    """A prototype: `parameters` as declared, `arguments` their names."""

    name: str
    parameters: list[str]

    @property
    def arguments(self) -> list[str]:
        return [argument_name(parameter) for parameter in self.parameters]

    @property
    def typed_arguments(self) -> list[str]:
        """The arguments as what they are, out of the words that carry them."""
        return [f"as<{argument_type(parameter)}>({argument_name(parameter)})" for parameter in self.parameters]

    @property
    def base(self) -> str:
        """The name without the large-count suffix."""
        return self.name.removesuffix("_c")


def argument_name(parameter: str) -> str:
    match = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", parameter)
    if not match:
        raise ValueError(f"the parameter '{parameter}' has no name")
    return match.group(1)


def argument_type(parameter: str) -> str:
    """What the parameter is when it is passed: an array is a pointer."""
    without_dimensions, dimensions = re.subn(r"\[[^\]]*\]\s*", "", parameter)
    return re.sub(r"\w+\s*$", "", without_dimensions).strip() + "*" * bool(dimensions)


def split_parameters(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    cleaned = [" ".join(part.split()) for part in parts]
    return [] if cleaned == ["void"] else cleaned


def parse_prototypes(header: str) -> list[Function]:
    """All functions MPI_* and MPIX_* of a preprocessed header that return int and take a fixed number of arguments."""
    functions = {}
    for match in re.finditer(r"\bint\s+(MPIX?_\w+)\s*\(", header):
        end, depth = match.end(), 1
        while depth:
            depth += (header[end] == "(") - (header[end] == ")")
            end += 1
        parameters = split_parameters(header[match.end() : end - 1])
        if "..." not in parameters:
            functions[match.group(1)] = Function(match.group(1), parameters)
    return list(functions.values())


def preprocess(compiler: str, includes: list[str], definitions: list[str], source: str) -> str:
    command = [compiler, "-E", "-P", "-x", "c++", *(f"-D{definition}" for definition in definitions)]
    command += [f"-I{include}" for include in includes] + ["-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def matches(patterns: list[str], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def argument_of_type(function: Function, kind: str) -> str | None:
    for parameter, argument in zip(function.parameters, function.arguments, strict=True):
        if re.fullmatch(rf"{kind} ?\w+", parameter):
            return argument
    return None
