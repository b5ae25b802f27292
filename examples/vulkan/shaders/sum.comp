// SPDX-License-Identifier: BSL-1.0
// Sums elements, or products of two elements as in a product of matrices. An invocation sums, in
// order, one run of the elements that belong to one result. If a result has several runs, the next
// pass sums their sums.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "elements.glsl"

layout(constant_id = 0) const uint result_type = f32;
layout(constant_id = 1) const uint a_type = f32;
layout(constant_id = 2) const uint b_type = number;  // without b, only elements of a are summed
layout(local_size_x = 64) in;

ELEMENTS(0, result, writeonly)
ELEMENTS(1, a, readonly)
ELEMENTS(2, b, readonly)

layout(std430, set = 0, binding = 3) readonly buffer Parameters {
  uint result_count, summed_count, run_length, run_count;
  uint kept_dimensions, summed_dimensions, zero, unused;
  uvec4 dimensions[];  // kept, then summed dimensions, innermost first: size, strides of a and b
} parameters;

#if DOMAIN == 3
float zero() {
  return uintBitsToFloat(parameters.zero);
}
#endif

// Returns the offsets in a and b of an index over the dimensions `first` to `last`.
uvec2 offsets_of(uint index, uint first, uint last) {
  uvec2 offsets = uvec2(0u);
  for (uint dimension = first; dimension < last; ++dimension) {
    const uvec4 at = parameters.dimensions[dimension];
    offsets += index % at.x * at.yz;
    index /= at.x;
  }
  return offsets + index * parameters.dimensions[last].yz;
}

void main() {
  for (uint at = gl_GlobalInvocationID.x; at < parameters.result_count * parameters.run_count;
       at += 64u * gl_NumWorkGroups.x) {
    const uint kept = parameters.kept_dimensions;
    const uvec2 base = offsets_of(at / parameters.run_count, 0u, kept - 1u);
    const uint begin = at % parameters.run_count * parameters.run_length;
    const uint end = min(parameters.summed_count, begin + parameters.run_length);
    Value sum = Value(0);
    for (uint each = begin; each < end; ++each) {
      const uvec2 from = base + offsets_of(each, kept, kept + parameters.summed_dimensions - 1u);
      Value value = value_of(a_type, LOAD(a, a_type, from.x));
      if (b_type != number) {
        value = times(value, value_of(b_type, LOAD(b, b_type, from.y)));
      }
      sum = plus(sum, value);
    }
    const uvec2 bits = bits_of(result_type, sum);
    STORE(result, result_type, at, bits)
  }
}
