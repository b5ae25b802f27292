// SPDX-License-Identifier: BSL-1.0
// Sums: an invocation sums a run of the elements of one result; if there are several runs, the next pass sums those up.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"
#include "arithmetic.glsl"

layout(constant_id = 0) const uint result_type = f32;
layout(constant_id = 1) const uint a_type = f32;
layout(local_size_x = 64) in;

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

uint offset_of(uint index, uint first, uint count) {
  uint offset = 0u;
  for (uint dimension = first; dimension < first + count; ++dimension) {
    const Dimension at = parameters.dimensions[dimension];
    offset += index % at.size * at.stride;
    index /= at.size;
  }
  return offset;
}

void main() {
  for (uint at = gl_GlobalInvocationID.x; at < parameters.result_count * parameters.run_count;
       at += 64u * gl_NumWorkGroups.x) {
    const uint base = offset_of(at / parameters.run_count, 0u, parameters.kept_dimensions);
    const uint begin = at % parameters.run_count * parameters.run_length;
    const uint end = min(parameters.summed_count, begin + parameters.run_length);
    Value sum = Value(0);
    for (uint each = begin; each < end; ++each) {
      const uint from = base + offset_of(each, parameters.kept_dimensions, parameters.summed_dimensions);
      sum = plus(sum, value_of(a_type, LOAD(a, a_type, from)));
    }
    const uvec2 bits = bits_of(result_type, sum);
    STORE(result, result_type, at, bits)
  }
}
