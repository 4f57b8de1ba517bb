// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qcc: the compiler's command line.
#include <cstdio>

#include <CLI/CLI.hpp>

#include "tools/qcc/Import.h"

int main(int argc, char **argv) {
  CLI::App app("qcc: compiles the training of a Qwen model into step programs");
  app.require_subcommand(1);

  qcc::ImportOptions import;
  CLI::App *importCommand = app.add_subcommand("import", "Write a model as MLIR");
  importCommand->add_option("source", import.source, "A Hugging Face folder, or a config.json")->type_name("HF_DIR");
  importCommand->add_option("--size", import.size, "A published size instead: 0.8b, 2b, 4b, 9b, 27b")
      ->type_name("NAME");
  importCommand->add_option("--layers", import.layers, "Keep this many layers")->type_name("N");
  importCommand->add_option("--dtype", import.dtype, "Storage of weights and activations: bf16 or f32")
      ->type_name("TYPE");
  importCommand->add_option("-o,--output", import.output, "Where to write, - for standard output")->type_name("FILE");
  importCommand->add_flag("--bytecode", import.bytecode, "Write MLIR bytecode");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  qrt::Status status;
  if (importCommand->parsed())
    status = qcc::importModel(import);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "qcc: error: %s\n", status.message().c_str());
  return status.code() == qrt::StatusCode::InvalidUsage ? 2 : 1;
}
