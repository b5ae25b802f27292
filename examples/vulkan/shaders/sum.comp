// SPDX-License-Identifier: BSL-1.0
// Sums: a group sums a run of what each of its results is the sum of; where that is not all, the next pass sums up.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"
#include "arithmetic.glsl"

layout(constant_id = 0) const uint result_type = f32;
layout(constant_id = 1) const uint a_type = f32;
layout(constant_id = 2) const uint adders = 64;  // invocations for one result, a power of two
layout(constant_id = 3) const uint results = 1;  // of one group
layout(local_size_x_id = 2, local_size_y_id = 3) in;

ELEMENTS(0, result, writeonly)
ELEMENTS(1, a, readonly)

struct Dimension {
  uint size, stride;
};
layout(std430, set = 0, binding = 2) readonly buffer Parameters {
  uint result_count, summed_count, run_length, run_count;
  uint kept_dimensions, summed_dimensions, zero, unused;
  Dimension dimensions[];  // that stay, then that are summed over, the innermost first
} parameters;

#if DOMAIN == 3
float zero() {
  return uintBitsToFloat(parameters.zero);
}
#endif

shared Value partial[256];

uint offset_of(uint index, uint first, uint count) {
  uint offset = 0u;
  for (uint dimension = first; dimension < first + count; ++dimension) {
    const Dimension at = parameters.dimensions[dimension];
    if (dimension + 1u == first + count) {
      return offset + index * at.stride;
    }
    offset += index % at.size * at.stride;
    index /= at.size;
  }
  return offset;
}

void main() {
  const uint lane = gl_LocalInvocationID.y * adders + gl_LocalInvocationID.x;
  const uint begin = gl_WorkGroupID.y * parameters.run_length;
  const uint end = min(parameters.summed_count, begin + parameters.run_length);
  const uint step = gl_NumWorkGroups.x * results;
  for (uint first = gl_WorkGroupID.x * results; first < parameters.result_count; first += step) {
    const uint index = first + gl_LocalInvocationID.y;
    Value sum = Value(0);
    if (index < parameters.result_count) {
      const uint base = offset_of(index, 0u, parameters.kept_dimensions);
      for (uint each = begin + gl_LocalInvocationID.x; each < end; each += adders) {
        const uint at = base + offset_of(each, parameters.kept_dimensions, parameters.summed_dimensions);
        sum = plus(sum, value_of(a_type, LOAD(a, a_type, at)));
      }
    }
    partial[lane] = sum;
    barrier();
    for (uint half_of = adders / 2u; half_of > 0u; half_of /= 2u) {
      if (gl_LocalInvocationID.x < half_of) {
        partial[lane] = plus(partial[lane], partial[lane + half_of]);
      }
      barrier();
    }
    if (gl_LocalInvocationID.x == 0u && index < parameters.result_count) {
      const uvec2 bits = bits_of(result_type, partial[lane]);
      const uint at = index * parameters.run_count + gl_WorkGroupID.y;
      STORE(result, result_type, at, bits)
    }
    barrier();
  }
}
