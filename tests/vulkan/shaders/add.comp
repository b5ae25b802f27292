// SPDX-License-Identifier: BSL-1.0
// to[i] = from[i] + addend, which is a push constant.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0, std430) readonly buffer From { uint from[]; };
layout(binding = 1, std430) buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint count; uint addend; };
layout(constant_id = 0) const uint factor = 1;

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) {
    to[i] = from[i] * factor + addend;
  }
}
