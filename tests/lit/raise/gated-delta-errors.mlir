// A scan that is not the gated delta rule is an error that says what differs: it is never raised.
// RUN: qcc-opt %s --raise-gated-delta --split-input-file --verify-diagnostics

// The kernel gives one output.
func.func @two_outputs(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>) {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected one output a token; got 2}}
  %o:2 = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32>, tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %o#0, %o#1 : tensor<?x2x3xf32>, tensor<?x2x3xf32>
}

// -----

// One state vector a head is another recurrence.
func.func @state_rank(%docs: !qt.segments, %g: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected a state of three dimensions (heads, key width, value width); got 2}}
  %o = qt.scan %docs, %g state tensor<2x3xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x3xf32>, %g_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x3xf32>, tensor<2x3xf32>
    qt.yield %s1, %s1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The state enters once.
func.func @squared_state(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the next state to be linear in the state; got S[a,b,c] S[a,b,c]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %s2 = qt.mul %s, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// Without a decay it is the plain delta rule.
func.func @no_decay(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the state to be multiplied by exp of a row of one number a head; got -S[a,s,c] x1[a,s] x1[a,b] x4[a] + S[a,b,c] (S is the state; x0, x1, ... are the rows)}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %seen = qt.contract %s, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// A decay that is no exponential has no kernel.
func.func @decay_without_exp(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the state to be multiplied by exp of a row of one number a head; got -S[a,s,c] x1[a,s] x1[a,b] x3[a] x4[a] + S[a,b,c] x3[a]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %eb = qt.broadcast %g_t dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// e^-g S is not e^g S.
func.func @decay_of_minus_g(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the next state to be sums of products of the state and the rows; got exp of -x3[a]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.neg %g_t : tensor<2xf32>
    // expected-note @below {{here}}
    %x = qt.exp %e : tensor<2xf32>
    %eb = qt.broadcast %x dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// A decay for each key dimension is another rule.
func.func @decay_by_width(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %w: tensor<?x2x4xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the state to be multiplied by exp of a row of one number a head; got -S[a,s,c] x1[a,s] x1[a,b] exp(x3)[a,s] x4[a] + S[a,b,c] exp(x3)[a,b]}}
  %o = qt.scan %docs, %q, %k, %v, %w, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %w_t: tensor<2x4xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %w_t : tensor<2x4xf32>
    %eb = qt.broadcast %e dims [0, 1] : tensor<2x4xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The correction reads the decayed state.
func.func @correction_before_decay(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected beta k k^T times the decayed state to be subtracted; got -S[a,s,c] x1[a,s] x1[a,b] x4[a] (}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// Without a correction it is gated linear attention.
func.func @no_correction(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected beta k k^T times the decayed state to be subtracted; got nothing}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %v_t : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The sign counts.
func.func @correction_added(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected beta k k^T times the decayed state to be subtracted; got S[a,s,c] x1[a,s] x1[a,b] exp(x3)[a] x4[a]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.add %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The write strength is on the correction too.
func.func @beta_on_the_value_alone(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected beta k k^T times the decayed state to be subtracted; got -S[a,s,c] x1[a,s] x1[a,b] exp(x3)[a] (}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %bv = qt.mul %bb, %v_t : tensor<2x3xf32>, tensor<2x3xf32>
    %d = qt.sub %bv, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// Without a write strength it is another rule.
func.func @no_beta(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected one number a head times a key times a value to be added to the state; got x1[a,b] x2[a,c]}}
  %o = qt.scan %docs, %q, %k, %v, %g state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %d = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// A coefficient on the write changes the rule.
func.func @written_twice(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected one number a head times a key times a value to be added to the state; got 2 x1[a,b] x2[a,c] x4[a]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %k2 = qt.scale %kd by 2.0 : tensor<2x4x3xf32>
    %s2 = qt.add %s1, %k2 : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// What is read is what is written.
func.func @other_key_read(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected beta k k^T times the decayed state to be subtracted; got -S[a,s,c] x0[a,s] x1[a,b] exp(x3)[a] x4[a]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The output is read after the update.
func.func @output_before_update(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the output to be the next state contracted with a row over the key width; got S[a,s,b] x0[a,s] exp(x3)[a] (}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s1, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// A residual in the output is another output.
func.func @output_plus_value(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the output to be the next state contracted with a row over the key width; got -S[a,t,b] x0[a,s] x1[a,t] x1[a,s] exp(x3)[a] x4[a] + S[a,s,b] x0[a,s] exp(x3)[a] + x0[a,s] x1[a,s] x2[a,b] x4[a] + x2[a,b]}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %r = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %o_t = qt.add %r, %v_t : tensor<2x3xf32>, tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// Zeros are no output.
func.func @output_of_nothing(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the output to be the next state contracted with a row over the key width; got nothing}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.zeros : tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// What is no sum of products is named, with its place.
func.func @nonlinear(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the next state to be sums of products of the state and the rows; got qt.sigmoid}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    // expected-note @below {{here}}
    %b2 = qt.sigmoid %beta_t : tensor<2xf32>
    %bb = qt.broadcast %b2 dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}

// -----

// The same for the output.
func.func @nonlinear_output(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x2x3xf32> {
  // expected-error @below {{'qt.scan' op is not the gated delta rule: expected the output to be sums of products of the state and the rows; got qt.silu}}
  %o = qt.scan %docs, %q, %k, %v, %g, %beta state tensor<2x4x3xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2x3xf32> {
  ^bb0(%s: tensor<2x4x3xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<2x4xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %beta_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [0] : tensor<2xf32> -> tensor<2x4x3xf32>
    %s1 = qt.mul %eb, %s : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    %new = qt.sub %v_t, %seen : tensor<2x3xf32>, tensor<2x3xf32>
    %bb = qt.broadcast %beta_t dims [0] : tensor<2xf32> -> tensor<2x3xf32>
    %d = qt.mul %bb, %new : tensor<2x3xf32>, tensor<2x3xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4x3xf32>
    %s2 = qt.add %s1, %kd : tensor<2x4x3xf32>, tensor<2x4x3xf32>
    %r = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<2x4x3xf32>, tensor<2x4xf32> -> tensor<2x3xf32>
    // expected-note @below {{here}}
    %o_t = qt.silu %r : tensor<2x3xf32>
    qt.yield %s2, %o_t : tensor<2x4x3xf32>, tensor<2x3xf32>
  }
  return %o : tensor<?x2x3xf32>
}
