// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun calibrate: what this machine achieves, for `qcc build --machine` and `qrun profile --machine`.
#include "runtime/executor/Calibrate.h"

#include "runtime/base/File.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/TimedEntry.h"

namespace qrt {
namespace {

struct Options {
  TimedEntryArguments timed;
  std::string machine, out;
};

Status calibrate(const Options &options, Specializer *compiler) {
  QRT_ASSIGN_OR_RETURN(TimedEntry timed, timeEntry(options.timed, compiler));
  Session &session = *timed.open.session;
  QRT_ASSIGN_OR_RETURN(MachineRates known, machineRates(options.machine, session.program()));
  QRT_ASSIGN_OR_RETURN(MachineRates rates,
                       calibratedRates(timed.entry(), timed.times, timed.row, known, session.device().name()));
  QRT_RETURN_IF_ERROR(writeFileAtomically(options.out, printMachineRates(rates)));
  auto profileBy = [&](const MachineRates &machine) {
    return makeProfile({timed.entry(), timed.times, timed.row, machine, std::nullopt});
  };
  Profile before = profileBy(known), after = profileBy(rates);
  say("\na run: {:.3f} ms, its instructions {:.3f}; predicted {:.3f} before, {:.3f} by the rates in {}\n", after.run,
      after.sum.milliseconds, before.sum.predicted, after.sum.predicted, options.out);
  return Status();
}

} // namespace

void addCalibrateCommand(CLI::App &app, Command &command, Specializer *compiler) {
  auto options = std::make_shared<Options>();
  CLI::App *calibrate =
      app.add_subcommand("calibrate", "Measure what this machine achieves, on the first row of the data");
  addTimedEntryOptions(*calibrate, options->timed);
  calibrate
      ->add_option("--machine", options->machine,
                   "Rates of an earlier qrun calibrate, for what this program has nothing of")
      ->type_name("FILE");
  calibrate->add_option("--out", options->out, "The file to write: qcc build and qrun profile take it as --machine")
      ->required()
      ->type_name("FILE");
  calibrate->callback(
      [options, compiler, &command] { command = [options, compiler] { return qrt::calibrate(*options, compiler); }; });
}

} // namespace qrt
