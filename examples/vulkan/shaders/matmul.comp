// SPDX-License-Identifier: BSL-1.0
// Products of matrices. Each element is summed up in order, by one invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"
#include "arithmetic.glsl"

layout(constant_id = 0) const uint result_type = f32;
layout(constant_id = 1) const uint a_type = f32;
layout(constant_id = 2) const uint b_type = f32;

layout(local_size_x = 64) in;

ELEMENTS(0, result, writeonly)
ELEMENTS(1, a, readonly)
ELEMENTS(2, b, readonly)

layout(std430, set = 0, binding = 3) readonly buffer Parameters {
  uint rows, inner, columns, batches;
  uvec4 dimension_count;  // and 0
  uvec4 stack[];  // of each dimension of the stacks, the innermost first: its size, the strides of a and b
} parameters;

#if DOMAIN == 3
float zero() {
  return uintBitsToFloat(parameters.dimension_count.y);
}
#endif

void main() {
  for (uint batch = gl_WorkGroupID.z; batch < parameters.batches; batch += gl_NumWorkGroups.z) {
    uint a_base = 0u;
    uint b_base = 0u;
    uint rest = batch;
    for (uint dimension = 0u; dimension < parameters.dimension_count.x; ++dimension) {
      const uvec4 each = parameters.stack[dimension];
      a_base += rest % each.x * each.y;
      b_base += rest % each.x * each.z;
      rest /= each.x;
    }
    for (uint row = gl_WorkGroupID.y; row < parameters.rows; row += gl_NumWorkGroups.y) {
      for (uint column = gl_GlobalInvocationID.x; column < parameters.columns; column += 64u * gl_NumWorkGroups.x) {
        Value sum = Value(0);
        for (uint k = 0u; k < parameters.inner; ++k) {
          const Value left = value_of(a_type, LOAD(a, a_type, a_base + row * parameters.inner + k));
          const Value right = value_of(b_type, LOAD(b, b_type, b_base + k * parameters.columns + column));
          sum = plus(sum, times(left, right));
        }
        const uint at = (batch * parameters.rows + row) * parameters.columns + column;
        const uvec2 bits = bits_of(result_type, sum);
        STORE(result, result_type, at, bits)
      }
    }
  }
}
