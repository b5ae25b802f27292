// SPDX-License-Identifier: BSL-1.0
// Operations of f32 that follow each other, without memory in between. What is computed is said by constants of the
// pipeline: a slot has an operation and its operands, and leaves its value to the slots behind it.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define DOMAIN 1
#define Value float
#include "arithmetic.glsl"
#include "exponential.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1) in;

layout(std430, set = 0, binding = 0) buffer First { float at[]; } first;
layout(std430, set = 0, binding = 1) buffer Second { float at[]; } second;
layout(std430, set = 0, binding = 2) readonly buffer A { float at[]; } a;
layout(std430, set = 0, binding = 3) readonly buffer B { float at[]; } b;
layout(std430, set = 0, binding = 4) readonly buffer C { float at[]; } c;
layout(std430, set = 0, binding = 5) readonly buffer D { float at[]; } d;
layout(std430, set = 0, binding = 6) readonly buffer Parameters {
  uvec4 sizes;  // the innermost dimension first
  uvec4 places[32];  // an offset, and the strides of three dimensions
  float numbers[32];
} parameters;

// In the order of backend/fused.hpp.
const uint nothing = 0u, load_a = 1u, load_b = 2u, load_c = 3u, load_d = 4u, store_first = 5u, store_second = 6u,
           load_number = 7u, add = 8u, subtract = 9u, multiply = 10u, divide = 11u, negate = 12u, rectify = 13u,
           exponentiate = 14u;

#define SLOT(i)                                            \
  layout(constant_id = 2 + 3 * i) const uint operation_##i = nothing; \
  layout(constant_id = 3 + 3 * i) const uint left_##i = 0u;           \
  layout(constant_id = 4 + 3 * i) const uint right_##i = 0u;
SLOT(0) SLOT(1) SLOT(2) SLOT(3) SLOT(4) SLOT(5) SLOT(6) SLOT(7)
SLOT(8) SLOT(9) SLOT(10) SLOT(11) SLOT(12) SLOT(13) SLOT(14) SLOT(15)
SLOT(16) SLOT(17) SLOT(18) SLOT(19) SLOT(20) SLOT(21) SLOT(22) SLOT(23)
SLOT(24) SLOT(25) SLOT(26) SLOT(27) SLOT(28) SLOT(29) SLOT(30) SLOT(31)
SLOT(32) SLOT(33) SLOT(34) SLOT(35) SLOT(36) SLOT(37) SLOT(38) SLOT(39)
SLOT(40) SLOT(41) SLOT(42) SLOT(43) SLOT(44) SLOT(45) SLOT(46) SLOT(47)
SLOT(48) SLOT(49) SLOT(50) SLOT(51) SLOT(52) SLOT(53) SLOT(54) SLOT(55)
SLOT(56) SLOT(57) SLOT(58) SLOT(59) SLOT(60) SLOT(61) SLOT(62) SLOT(63)

float values[64];

uint at(uint place, uvec3 index) {
  const uvec4 where_it_is = parameters.places[place];
  return where_it_is.x + index.x * where_it_is.y + index.y * where_it_is.z + index.z * where_it_is.w;
}

float minus(float left, float right) {
  precise float difference = left - right;
  return difference;
}

#define RUN(i)                                                                                   \
  if (operation_##i == load_a) {                                                                 \
    values[i] = a.at[at(left_##i, index)];                                                       \
  } else if (operation_##i == load_b) {                                                          \
    values[i] = b.at[at(left_##i, index)];                                                       \
  } else if (operation_##i == load_c) {                                                          \
    values[i] = c.at[at(left_##i, index)];                                                       \
  } else if (operation_##i == load_d) {                                                          \
    values[i] = d.at[at(left_##i, index)];                                                       \
  } else if (operation_##i == store_first) {                                                     \
    first.at[at(right_##i, index)] = values[left_##i];                                           \
  } else if (operation_##i == store_second) {                                                    \
    second.at[at(right_##i, index)] = values[left_##i];                                          \
  } else if (operation_##i == load_number) {                                                     \
    values[i] = parameters.numbers[left_##i];                                                    \
  } else if (operation_##i == add) {                                                             \
    values[i] = plus(values[left_##i], values[right_##i]);                                       \
  } else if (operation_##i == subtract) {                                                        \
    values[i] = minus(values[left_##i], values[right_##i]);                                      \
  } else if (operation_##i == multiply) {                                                        \
    values[i] = times(values[left_##i], values[right_##i]);                                      \
  } else if (operation_##i == divide) {                                                          \
    values[i] = values[left_##i] / values[right_##i];                                            \
  } else if (operation_##i == negate) {                                                          \
    values[i] = -values[left_##i];                                                               \
  } else if (operation_##i == rectify) {                                                         \
    values[i] = values[left_##i] < 0.0 ? 0.0 : values[left_##i];                                 \
  } else if (operation_##i == exponentiate) {                                                    \
    values[i] = exponential(values[left_##i]);                                                   \
  }

void main() {
  const uvec3 step = gl_NumWorkGroups * gl_WorkGroupSize;
  uvec3 index;
  for (index.z = gl_GlobalInvocationID.z; index.z < parameters.sizes.z; index.z += step.z) {
    for (index.y = gl_GlobalInvocationID.y; index.y < parameters.sizes.y; index.y += step.y) {
      for (index.x = gl_GlobalInvocationID.x; index.x < parameters.sizes.x; index.x += step.x) {
        RUN(0) RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7)
        RUN(8) RUN(9) RUN(10) RUN(11) RUN(12) RUN(13) RUN(14) RUN(15)
        RUN(16) RUN(17) RUN(18) RUN(19) RUN(20) RUN(21) RUN(22) RUN(23)
        RUN(24) RUN(25) RUN(26) RUN(27) RUN(28) RUN(29) RUN(30) RUN(31)
        RUN(32) RUN(33) RUN(34) RUN(35) RUN(36) RUN(37) RUN(38) RUN(39)
        RUN(40) RUN(41) RUN(42) RUN(43) RUN(44) RUN(45) RUN(46) RUN(47)
        RUN(48) RUN(49) RUN(50) RUN(51) RUN(52) RUN(53) RUN(54) RUN(55)
        RUN(56) RUN(57) RUN(58) RUN(59) RUN(60) RUN(61) RUN(62) RUN(63)
      }
    }
  }
}
