#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat JSONL or plain text to token folders, the input of `qrun pack` (docs/data.md).

A chat line is {"messages": [{"role": ..., "content": ...}, ...]}; other keys are ignored. A conversation goes through
the tokenizer's chat template once, as a whole. Trained is what the assistant writes: what follows <|im_start|>assistant
and a line feed through <|im_end|>, or what {% generation %} marks in the template enclose. In plain text everything is
trained.
"""

import os
import sys

if __name__ == "tokenize":
    # The standard library has a module of this name, and a script beside this file made it look here: be that module.
    import importlib.machinery

    _spec = importlib.machinery.PathFinder.find_spec("tokenize", [os.path.dirname(os.__file__)])
    _spec.loader.exec_module(sys.modules[__name__])


def main():
    import argparse
    import time

    from chatdata import DataError
    from chatdata.command import add_options, run

    parser = argparse.ArgumentParser(
        prog="tokenize.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    options = parser.parse_args()
    began = time.monotonic()
    try:
        run(options, parser.error)
    except DataError as error:
        print(f"tokenize.py: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tokenize.py: interrupted; nothing was written", file=sys.stderr)
        return 1
    print(f"took {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    import environment  # may start this program again, in the project's environment

    environment.require("tokenizers", "jinja2")
    sys.exit(main())
