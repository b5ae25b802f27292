// SPDX-License-Identifier: BSL-1.0
// Computes each element of the result from the elements of up to three operands with any strides.
// Also moves elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"
#include "exponential.glsl"

layout(constant_id = 0) const uint operation = 0;
layout(constant_id = 1) const uint result_type = f32;
layout(constant_id = 2) const uint a_type = f32;
layout(constant_id = 3) const uint b_type = f32;
layout(local_size_x_id = 4, local_size_y_id = 5) in;

ELEMENTS(0, result, )
ELEMENTS(1, a, readonly)
ELEMENTS(2, b, readonly)
ELEMENTS(3, condition, readonly)

layout(std430, set = 0, binding = 4) readonly buffer Parameters {
  uvec4 sizes;  // number of elements in a row, number of rows, number of outer dimensions
  uvec4 offsets;  // of the result, a, b and the condition
  uvec4 strides;  // within a row
  uvec4 constant;  // the bits of the number, then 0
  uvec4 outer[];  // for each outer dimension, innermost first: its size, then its strides
} parameters;

#if DOMAIN == 3
float zero() {
  return uintBitsToFloat(parameters.constant.w);
}
#endif

const uint copy = 0u, add = 1u, subtract = 2u, multiply = 3u, divide = 4u, equal = 5u, greater_or_equal = 6u,
           negate = 7u, rectify = 8u, exponentiate = 9u, select = 10u;

#if DOMAIN == 3
vec2 quotient_of(vec2 a, vec2 b) {
  if (b == vec2(0.0)) {
    return uintBitsToFloat((floatBitsToUint(b.x) & 0x80000000u) | 0x7F800000u) * a;
  }
  const bool swaps = abs(b.x) < abs(b.y);
  const vec2 by = swaps ? b.yx : b;
  const float ratio = by.y / by.x;
  const vec2 above = swaps ? vec2(a.x * ratio + a.y, a.y * ratio - a.x) : vec2(a.x + a.y * ratio, a.y - a.x * ratio);
  return above / (by.x + by.y * ratio);
}
#endif

Value computed(Value a, Value b) {
  switch (operation) {
    case add:
      return plus(a, b);
    case subtract: {
      precise Value difference = a - b;
      return difference;
    }
    case multiply:
      return times(a, b);
#if DOMAIN == 1 || DOMAIN == 2
    case divide:
      return a / b;
#elif DOMAIN == 3
    case divide:
      return quotient_of(a, b);
#endif
#if DOMAIN != 0
    case exponentiate:
      return exponential(a);
#endif
    case equal:
#if DOMAIN == 3
      return vec2(a == b ? 1.0 : 0.0, 0.0);
#else
      return Value(a == b ? 1 : 0);
    case greater_or_equal:
      return Value(a >= b ? 1 : 0);
    case rectify:
      return a < Value(0) ? Value(0) : a;
#endif
    case negate:
      return -a;
    default:
      return a;
  }
}

void main() {
  const uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint y = gl_GlobalInvocationID.y; y < parameters.sizes.y; y += gl_NumWorkGroups.y * gl_WorkGroupSize.y) {
    uvec4 row = parameters.offsets;
    uint rest = y;
    for (uint dimension = 0u; dimension < parameters.sizes.z; ++dimension) {
      const uint size = parameters.outer[2u * dimension].x;
      row += rest % size * parameters.outer[2u * dimension + 1u];
      rest /= size;
    }
    for (uint x = gl_GlobalInvocationID.x; x < parameters.sizes.x; x += step) {
      const uvec4 at = row + x * parameters.strides;
      Value a_value = Value(0);
      Value b_value = Value(0);
      if (a_type <= complex64) {
        a_value = value_of(a_type, LOAD(a, a_type, at.y));
      } else if (a_type == number) {
        a_value = number_of(parameters.constant.xy);
      } else {
        a_value = Value(x);
      }
      if (operation != copy && operation < negate || operation == select) {
        b_value = b_type == number ? number_of(parameters.constant.xy) : value_of(b_type, LOAD(b, b_type, at.z));
      }
      Value value = a_value;
      if (operation == select) {
        value = LOAD(condition, boolean, at.w).x == 0u ? b_value : a_value;
      } else if (operation != copy) {
        value = computed(a_value, b_value);
      }
      const uvec2 bits = bits_of(result_type, value);
      STORE(result, result_type, at.x, bits)
    }
  }
}
