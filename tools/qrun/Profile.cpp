// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun profile: where the time of a step goes.
#include "runtime/base/File.h"
#include "runtime/cost/PeakRates.h"
#include "runtime/executor/ProfileReport.h"
#include "runtime/executor/TraceFile.h"
#include "runtime/program/InstructionCost.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/TimedEntry.h"

namespace qrt {
namespace {

struct Options {
  TimedEntryArguments timed;
  std::string machine, json, trace;
  bool instructions = false;
};

Status profile(const Options &options, Specializer *compiler) {
  QRT_ASSIGN_OR_RETURN(TimedEntry timed, timeEntry(options.timed, compiler));
  Session &session = *timed.open.session;
  const Entry &entry = timed.entry();
  QRT_ASSIGN_OR_RETURN(MachineRates machine, machineRates(options.machine, session.program()));
  std::string_view device = session.device().name();
  ProfileInput input{entry, timed.times, timed.row, machine, peakRate(device, entryStorage(entry))};
  Profile its = makeProfile(input);
  if (!options.json.empty())
    QRT_RETURN_IF_ERROR(writeFileAtomically(options.json, profileJson(input, its, device)));
  say("\nentry {}, row 0 of {}\n", entry.name(), options.timed.session.data);
  if (options.instructions)
    say("{}\n", instructionTable(input));
  say("{}", profileTable(input, its, device));
  if (options.trace.empty())
    return Status();
  ExecutionTrace trace;
  QRT_RETURN_IF_ERROR(session.trace(timed.kind, trace).status());
  QRT_RETURN_IF_ERROR(writeFileAtomically(options.trace, traceJson(entry, trace, device)));
  say("{}: {}\n", options.trace, traceSummary(trace));
  return Status();
}

} // namespace

void addProfileCommand(CLI::App &app, Command &command, Specializer *compiler) {
  auto options = std::make_shared<Options>();
  CLI::App *profile = app.add_subcommand("profile", "Where the time of a step goes, on the first row of the data");
  addTimedEntryOptions(*profile, options->timed);
  profile
      ->add_option("--machine", options->machine,
                   "Rates of qrun calibrate to predict by (without: those known of the program's target)")
      ->type_name("FILE");
  profile->add_flag("--instructions", options->instructions, "List each instruction before the table");
  profile->add_option("--json", options->json, "Write the table as JSON too")->type_name("FILE");
  profile
      ->add_option("--trace", options->trace,
                   "Record one more run, for ui.perfetto.dev or chrome://tracing (on a GPU this takes CUPTI)")
      ->type_name("FILE");
  profile->callback(
      [options, compiler, &command] { command = [options, compiler] { return qrt::profile(*options, compiler); }; });
}

} // namespace qrt
