// A list of buckets that cannot be read is refused before anything is made.
// RUN: not qcc-opt %s --specialize-buckets=buckets=128x4 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not qcc-opt %s --specialize-buckets=buckets=64,64 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not qcc-opt %s --specialize-buckets 2>&1 | FileCheck %s --check-prefix=EMPTY

// FORM: error: bucket '128x4': expected TOKENS or TOKENSxDOCUMENTSxLONGESTxTRAINED
// TWICE: error: buckets '64,64': 64 is there twice
// EMPTY: error: bucket '': expected TOKENS
func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
  return
}
