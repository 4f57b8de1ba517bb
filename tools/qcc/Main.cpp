// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qcc: the compiler's command line.
#include "tools/cli/CommandLine.h"
#include "tools/cli/Numbers.h"
#include "tools/qcc/Build.h"
#include "tools/qcc/Import.h"

#include "llvm/Config/llvm-config.h"

int main(int argc, char **argv) {
  CLI::App app("qcc: compiles the training of a Qwen model into step programs", "qcc");
  app.require_subcommand(1);
  qrt::addVersion(app, "LLVM " LLVM_VERSION_STRING);

  qcc::ImportOptions import;
  CLI::App *importCommand = app.add_subcommand("import", "Write a model as MLIR");
  importCommand->add_option("source", import.source, "A Hugging Face folder, or a config.json")->type_name("HF_DIR");
  importCommand->add_option("--size", import.size, "A published size instead: 0.8b, 2b, 4b, 9b or 27b")
      ->type_name("NAME");
  qrt::addNumber(*importCommand, "--layers", import.layers, "Keep this many layers, or repeat the pattern beyond them");
  importCommand
      ->add_option("--dtype", import.dtype, "Storage of weights and activations: bf16 or f32 (default: the config's)")
      ->type_name("TYPE");
  importCommand->add_option("-o,--output", import.output, "The module to write (default: standard output)")
      ->type_name("FILE.mlir");
  importCommand->add_flag("--bytecode", import.bytecode, "Write MLIR bytecode instead of text");

  qcc::BuildOptions build;
  CLI::App *buildCommand = app.add_subcommand("build", "Compile a model into step programs");
  buildCommand->add_option("model", build.input, "The model, or a dump of any phase; - for standard input")
      ->required()
      ->type_name("FILE.mlir");
  buildCommand
      ->add_option("-o,--output", build.output,
                   "What to write: the program (needed), or with --compile-to the module (default: standard output)")
      ->type_name("FILE");
  buildCommand->add_option("--target", build.target, "What runs it: cpu or sm_90a (default: the dump's, else cpu)")
      ->type_name("NAME");
  buildCommand
      ->add_option("--buckets", build.buckets,
                   "Shapes of rows to build for, separated by commas: TOKENS takes any row of so many, documents of a "
                   "single token too, which takes a GPU much more memory than the few documents that "
                   "TOKENSxDOCUMENTSxLONGESTxTRAINED names")
      ->type_name("LIST");
  buildCommand->add_option("--data", build.data, "Packed data whose rows say which buckets to build, at most four")
      ->type_name("DIR");
  buildCommand
      ->add_option("--states", build.states,
                   "Optimizer states of bf16 weights: f32 (master and moments; default) or bf16")
      ->type_name("TYPE");
  buildCommand
      ->add_option("--remat", build.remat,
                   "What the backward pass computes again: none (default), memory-bound, or budget, what "
                   "--memory needs (default with it)")
      ->type_name("POLICY");
  buildCommand
      ->add_option("--compile-to", build.compileTo,
                   "Stop after a phase and write the module: model, raised, formed, grad, bucketed, sharded, fused, "
                   "remat or planned")
      ->type_name("PHASE");
  buildCommand
      ->add_option(
          "--memory", build.memory,
          "Memory of the device, as 80GiB or 141GB: computes again what a run of one micro-batch a step needs to "
          "fit, in the least time; fails, and writes nothing, if it does not fit even so")
      ->type_name("SIZE");
  buildCommand
      ->add_option("--machine", build.machine,
                   "Rates of qrun calibrate, by which --memory chooses and --explain predicts (without: those known of "
                   "the target)")
      ->type_name("FILE");
  buildCommand->add_flag("--explain", build.explain, "Print what each layer became, its costs, and what was missed");
  buildCommand
      ->add_option("--disable-kernel", build.disabledKernel,
                   "Take the target not to have this kernel: shows that nothing falls back")
      ->type_name("NAME");

  if (std::optional<int> end = qrt::parseCommandLine(app, argc, argv))
    return *end;
  return qrt::finish(app, importCommand->parsed() ? qcc::importModel(import) : qcc::build(build));
}
