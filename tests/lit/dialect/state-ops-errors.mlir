// What the verifiers of parameters, states and the optimizer refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'qt.parameter' op expected a type of known shape, got 'tensor<?x4xf32>'}}
qt.parameter @w : tensor<?x4xf32> init <zeros> names ["w"]

// -----

// expected-error @below {{'qt.parameter' op expected at least one name in checkpoints, got none}}
qt.parameter @w : tensor<4xf32> init <zeros> names []

// -----

// expected-error @below {{'qt.parameter' op expected a standard deviation of at least 0, got -1}}
qt.parameter @w : tensor<4xf32> init <normal, 0.0, -1.0> names ["w"]

// -----

// expected-error @below {{'qt.parameter' op expected bounds 0 < a < b of a log-uniform value, got 0 and 16}}
qt.parameter @w : tensor<4xf32> init <log_uniform, 0.0, 16.0> names ["w"]

// -----

// expected-error @below {{'qt.parameter' op expected bounds 0 < a < b of a log-uniform value, got 2 and 1}}
qt.parameter @w : tensor<4xf32> init <log_uniform, 2.0, 1.0> names ["w"]

// -----

// expected-error @below {{'qt.parameter' op expected an initial value with finite numbers, got #qt.init<normal, 0.000000e+00, 0x7FF0000000000000>}}
qt.parameter @w : tensor<4xf32> init <normal, 0.0, 0x7FF0000000000000> names ["w"]

// -----

qt.parameter @w : tensor<f32> init <zeros> names ["w"]
// expected-error @below {{'qt.parameter_pack' op expected a type of known shape with rows to stack, got 'tensor<f32>'}}
qt.parameter_pack @p [@w] : tensor<f32>

// -----

// expected-error @below {{'qt.parameter_pack' op expected at least one member}}
qt.parameter_pack @p [] : tensor<4xf32>

// -----

// expected-error @below {{'qt.parameter_pack' op expected members that are parameters, got @w}}
qt.parameter_pack @p [@w] : tensor<4xf32>

// -----

qt.parameter @w : tensor<2x4xf32> init <zeros> names ["w"]
// expected-error @below {{'qt.parameter_pack' op expected each member once, got @w twice}}
qt.parameter_pack @p [@w, @w] : tensor<4x4xf32>

// -----

qt.parameter @w : tensor<2x4xf32> init <zeros> names ["w"]
qt.parameter @u : tensor<2x5xf32> init <zeros> names ["u"]
// expected-error @below {{'qt.parameter_pack' op expected members that stack to 'tensor<4x4xf32>', got @u of type 'tensor<2x5xf32>'}}
qt.parameter_pack @p [@w, @u] : tensor<4x4xf32>

// -----

qt.parameter @w : tensor<2x4xf32> init <zeros> names ["w"]
qt.parameter @u : tensor<2x4xbf16> init <zeros> names ["u"]
// expected-error @below {{'qt.parameter_pack' op expected members that stack to 'tensor<4x4xf32>', got @u of type 'tensor<2x4xbf16>'}}
qt.parameter_pack @p [@w, @u] : tensor<4x4xf32>

// -----

qt.parameter @w : tensor<2x4xf32> init <zeros> names ["w"]
qt.parameter @u : tensor<2x4xf32> frozen init <zeros> names ["u"]
// expected-error @below {{'qt.parameter_pack' op expected members that are all frozen or all trained, got "w" trained and @u frozen}}
qt.parameter_pack @p [@w, @u] : tensor<4x4xf32>

// -----

qt.parameter @w : tensor<2x4xf32> init <zeros> names ["w"]
qt.parameter @u : tensor<3x4xf32> init <zeros> names ["u"]
// expected-error @below {{'qt.parameter_pack' op expected members of together 4 rows, got 5}}
qt.parameter_pack @p [@w, @u] : tensor<4x4xf32>

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
// expected-error @below {{'qt.state' op expected counters that belong to no parameter, got @w}}
qt.state @c counters of @w : tensor<2xi64>

// -----

// expected-error @below {{'qt.state' op expected counters of type 'tensor<2xi64>', got 'tensor<3xi64>'}}
qt.state @c counters : tensor<3xi64>

// -----

// expected-error @below {{'qt.state' op expected the parameter or pack that the state belongs to, got none}}
qt.state @m exp_avg : tensor<2xf32>

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
qt.state @m exp_avg of @w : tensor<2xf32>
// expected-error @below {{'qt.state' op expected a state of a parameter or pack, got @m}}
qt.state @n exp_avg of @m : tensor<2xf32>

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
// expected-error @below {{'qt.state' op expected a floating-point state of the shape of @w, 'tensor<2xf32>', got 'tensor<3xf32>'}}
qt.state @m exp_avg of @w : tensor<3xf32>

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
// expected-error @below {{'qt.state' op expected a floating-point state of the shape of @w, 'tensor<2xf32>', got 'tensor<2xi32>'}}
qt.state @m exp_avg of @w : tensor<2xi32>

// -----

func.func @read_missing() {
  // expected-error @below {{'qt.read' op expected a parameter, pack or state, got @w}}
  %w = qt.read @w : tensor<2xf32>
  return
}

// -----

func.func @read_function() {
  // expected-error @below {{'qt.read' op expected a parameter, pack or state, got @read_function}}
  %w = qt.read @read_function : tensor<2xf32>
  return
}

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
func.func @read_type() {
  // expected-error @below {{'qt.read' op expected the type of @w, 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %w = qt.read @w : tensor<3xf32>
  return
}

// -----

func.func @update_missing(%x: tensor<2xf32>) {
  // expected-error @below {{'qt.update' op expected a parameter, pack or state, got @w}}
  qt.update @w, %x : tensor<2xf32>
  return
}

// -----

qt.parameter @w : tensor<2xf32> init <zeros> names ["w"]
qt.parameter_pack @p [@w] : tensor<2xf32>
func.func @update_type(%x: tensor<2xbf16>) {
  // expected-error @below {{'qt.update' op expected the type of @p, 'tensor<2xf32>', got 'tensor<2xbf16>'}}
  qt.update @p, %x : tensor<2xbf16>
  return
}

// -----

func.func @optimizer_step_counters(%norm: tensor<f32>, %c: tensor<2xi32>) {
  // expected-error @below {{'qt.optimizer_step' op expected counters of type 'tensor<2xi64>', got 'tensor<2xi32>'}}
  %r = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @optimizer_step_updated(%norm: tensor<f32>, %c: tensor<2xi64>) {
  // expected-error @below {{'qt.optimizer_step' op expected updated of type 'tensor<2xi64>', got 'tensor<2xi32>'}}
  %r = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @adamw_gradient(%gradient: tensor<4x9xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected gradient of type 'tensor<4x2xbf16>' or 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x9xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_counters(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<9xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected counters of type 'tensor<2xi64>', got 'tensor<9xi64>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<9xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_hyper(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<9xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected hyper of type 'tensor<8xf32>', got 'tensor<9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<9xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_exp_avg(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x9xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected exp_avg of type 'tensor<4x2xbf16>' or 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x9xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_exp_avg_sq(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x9xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected exp_avg_sq of type 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x9xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_master(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x9xf32>) {
  // expected-error @below {{'qt.adamw' op expected master of type 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x9xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_new_weight(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected new_weight of type 'tensor<4x2xbf16>', got 'tensor<4x9xbf16>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x9xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_new_exp_avg(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected new_exp_avg of type 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x9xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_new_exp_avg_sq(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected new_exp_avg_sq of type 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x9xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_new_master(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected new_master of type 'tensor<4x2xf32>', got 'tensor<4x9xf32>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x9xf32>)
  return
}

// -----

func.func @adamw_members_empty(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected (key, elements) pairs of one or more members, got 0 numbers}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_members_odd(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected (key, elements) pairs of one or more members, got 1 numbers}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_members_key(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected members with a key of 63 bits and at least one element, got (-1, 8)}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [-1, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_members_none(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected members with a key of 63 bits and at least one element, got (9, 0)}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8, 9, 0] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_members_sum(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected members of together 8 elements, got 9}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8, 9, 1] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_seed(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<1xi64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected seed of type 'tensor<i64>', got 'tensor<1xi64>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<1xi64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_master_of_f32(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xf32>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected a master only of a weight that is stored in fewer bits, got one of a weight of 'f32'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_master_type(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xbf16>) {
  // expected-error @below {{'qt.adamw' op expected master of type 'tensor<4x2xf32>', got 'tensor<4x2xbf16>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xbf16>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_gradient_type(%gradient: tensor<4x2xf64>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected gradient of type 'tensor<4x2xbf16>' or 'tensor<4x2xf32>', got 'tensor<4x2xf64>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf64>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_moment_type(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf64>, %exp_avg_sq: tensor<4x2xf64>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected exp_avg of type 'tensor<4x2xbf16>' or 'tensor<4x2xf32>', got 'tensor<4x2xf64>'}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_new_master_alone(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected a new master where there is a master, and only there}}
  %r:4 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @adamw_master_alone(%gradient: tensor<4x2xf32>, %norm: tensor<f32>, %counters: tensor<2xi64>, %hyper: tensor<8xf32>, %seed: tensor<i64>, %weight: tensor<4x2xbf16>, %exp_avg: tensor<4x2xf32>, %exp_avg_sq: tensor<4x2xf32>, %master: tensor<4x2xf32>) {
  // expected-error @below {{'qt.adamw' op expected a new master where there is a master, and only there}}
  %r:3 = qt.adamw %gradient norm %norm counters %counters hyper %hyper seed %seed weight %weight moments %exp_avg, %exp_avg_sq master %master decay true members [7, 8] : (tensor<4x2xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xbf16>, tensor<4x2xf32>, tensor<4x2xf32>)
  return
}
