// SPDX-License-Identifier: BSL-1.0
// Products of matrices, by tiles. Each element is summed up in order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"
#include "arithmetic.glsl"

layout(constant_id = 0) const uint result_type = f32;
layout(constant_id = 1) const uint a_type = f32;
layout(constant_id = 2) const uint b_type = f32;

const uint tile = 8;
layout(local_size_x = 8, local_size_y = 8) in;

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

shared Value a_tile[tile][tile];
shared Value b_tile[tile][tile];

Value of_a(uint base, uint row, uint k) {
  if (row >= parameters.rows || k >= parameters.inner) {
    return Value(0);
  }
  const uint at = base + row * parameters.inner + k;
  return value_of(a_type, LOAD(a, a_type, at));
}
Value of_b(uint base, uint k, uint column) {
  if (k >= parameters.inner || column >= parameters.columns) {
    return Value(0);
  }
  const uint at = base + k * parameters.columns + column;
  return value_of(b_type, LOAD(b, b_type, at));
}

void multiply(uint batch, uint row_tile, uint column_tile) {
  uint a_base = 0u;
  uint b_base = 0u;
  uint rest = batch;
  for (uint dimension = 0u; dimension < parameters.dimension_count.x; ++dimension) {
    const uvec4 each = parameters.stack[dimension];
    a_base += rest % each.x * each.y;
    b_base += rest % each.x * each.z;
    rest /= each.x;
  }
  const uint i = gl_LocalInvocationID.y;
  const uint j = gl_LocalInvocationID.x;
  const uint row = row_tile * tile + i;
  const uint column = column_tile * tile + j;
  Value sum = Value(0);
  for (uint begin = 0u; begin < parameters.inner; begin += tile) {
    a_tile[i][j] = of_a(a_base, row, begin + j);
    b_tile[i][j] = of_b(b_base, begin + i, column);
    barrier();
    const uint length = min(tile, parameters.inner - begin);
    for (uint k = 0u; k < length; ++k) {
      sum = plus(sum, times(a_tile[i][k], b_tile[k][j]));
    }
    barrier();
  }
  if (row < parameters.rows && column < parameters.columns) {
    const uint at = (batch * parameters.rows + row) * parameters.columns + column;
    const uvec2 bits = bits_of(result_type, sum);
    STORE(result, result_type, at, bits)
  }
}

void main() {
  const uint row_tiles = (parameters.rows + tile - 1u) / tile;
  const uint column_tiles = (parameters.columns + tile - 1u) / tile;
  for (uint batch = gl_WorkGroupID.z; batch < parameters.batches; batch += gl_NumWorkGroups.z) {
    for (uint i = gl_WorkGroupID.y; i < row_tiles; i += gl_NumWorkGroups.y) {
      for (uint j = gl_WorkGroupID.x; j < column_tiles; j += gl_NumWorkGroups.x) {
        multiply(batch, i, j);
      }
    }
  }
}
