// SPDX-License-Identifier: BSL-1.0
// Any chain of operators on f32, from element to element: a program of instructions, which are specialization constants.
// So the driver compiles what they say, and nothing that interprets them. See fusion/kernel.hpp.
#version 460
#extension GL_GOOGLE_include_directive : require
#define DOMAIN 1
#define Value float
#include "arithmetic.glsl"
#include "exponential.glsl"

#define ALL(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) \
  DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) \
  DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) \
  DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31) \
  DO(32) DO(33) DO(34) DO(35) DO(36) DO(37) DO(38) DO(39) \
  DO(40) DO(41) DO(42) DO(43) DO(44) DO(45) DO(46) DO(47) \
  DO(48) DO(49) DO(50) DO(51) DO(52) DO(53) DO(54) DO(55) \
  DO(56) DO(57) DO(58) DO(59) DO(60) DO(61) DO(62) DO(63)
#define DECLARE(n) layout(constant_id = n) const uint code_##n = 0u;
ALL(DECLARE)
layout(local_size_x_id = 64, local_size_y_id = 65) in;

#define BUFFER(n) layout(std430, set = 0, binding = n) buffer Buffer##n { float at[]; } buffer_##n;
BUFFER(0) BUFFER(1) BUFFER(2) BUFFER(3) BUFFER(4) BUFFER(5) BUFFER(6) BUFFER(7)
layout(std430, set = 0, binding = 8) readonly buffer Parameters { int all[]; } parameters;

const uint load = 1u, number = 2u, window = 3u, select = 4u, add = 5u, sub = 6u, mul = 7u, div = 8u, neg = 9u,
           relu = 10u, exponential_ = 11u, ge = 12u, eq = 13u, store = 14u;

float register_[64];
ivec3 position;  // z, y, x

float read(uint binding, int at) {
  switch (binding) {
    case 0u: return buffer_0.at[at];
    case 1u: return buffer_1.at[at];
    case 2u: return buffer_2.at[at];
    case 3u: return buffer_3.at[at];
    case 4u: return buffer_4.at[at];
    case 5u: return buffer_5.at[at];
    case 6u: return buffer_6.at[at];
    default: return buffer_7.at[at];
  }
}

void write(uint binding, int at, float value) {
  switch (binding) {
    case 0u: buffer_0.at[at] = value; break;
    case 1u: buffer_1.at[at] = value; break;
    case 2u: buffer_2.at[at] = value; break;
    case 3u: buffer_3.at[at] = value; break;
    case 4u: buffer_4.at[at] = value; break;
    case 5u: buffer_5.at[at] = value; break;
    case 6u: buffer_6.at[at] = value; break;
    default: buffer_7.at[at] = value; break;
  }
}

bool is_in(uint of) {
  return of == 0u || register_[of - 1u] != 0.0;
}

ivec3 three(uint first) {
  return ivec3(parameters.all[first], parameters.all[first + 1u], parameters.all[first + 2u]);
}

float result_of(uint code) {
  const uint a = code >> 8 & 255u;
  const uint b = code >> 16 & 255u;
  const uint c = code >> 24;
  switch (code & 255u) {
    case load: {
      const ivec3 way = position * three(a + 1u);
      const int at = parameters.all[a] + way.x + way.y + way.z;
      float value = 0.0;
      if (is_in(b)) {
        value = read(c, at);
      }
      return value;
    }
    case number:
      return intBitsToFloat(parameters.all[a]);
    case window:
      return is_in(b) && all(greaterThanEqual(position, three(a))) && all(lessThan(position, three(a + 3u))) ? 1.0 : 0.0;
    case select:
      return register_[a] != 0.0 ? register_[b] : register_[c];
    case add:
      return plus(register_[a], register_[b]);
    case sub: {
      precise float difference = register_[a] - register_[b];
      return difference;
    }
    case mul:
      return times(register_[a], register_[b]);
    case div:
      return register_[a] / register_[b];
    case neg:
      return -register_[a];
    case relu:
      return register_[a] < 0.0 ? 0.0 : register_[a];
    case exponential_:
      return exponential(register_[a]);
    case ge:
      return register_[a] >= register_[b] ? 1.0 : 0.0;
    case eq:
      return register_[a] == register_[b] ? 1.0 : 0.0;
    case store:
      write(c, (position.x * parameters.all[1] + position.y) * parameters.all[2] + position.z, register_[a]);
      return 0.0;
    default:
      return 0.0;
  }
}

void main() {
  const uvec3 step = gl_NumWorkGroups * gl_WorkGroupSize;
  for (uint z = gl_GlobalInvocationID.z; z < uint(parameters.all[0]); z += step.z) {
    for (uint y = gl_GlobalInvocationID.y; y < uint(parameters.all[1]); y += step.y) {
      for (uint x = gl_GlobalInvocationID.x; x < uint(parameters.all[2]); x += step.x) {
        position = ivec3(z, y, x);
#define RUN(n) if (code_##n != 0u) { register_[n] = result_of(code_##n); }
        ALL(RUN)
      }
    }
  }
}
