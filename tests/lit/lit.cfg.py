# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A folder a concern. Tests call the programs by name (qcc-opt, qcc, qrun, FileCheck, not); %project is the root of the sources.
import os

import lit.formats

config.name = "qcc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.qcc_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
config.substitutions.append(("%project", config.project_dir))
