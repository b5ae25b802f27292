// SPDX-License-Identifier: BSL-1.0
// to[i] = from[i] + the sum of all addends.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0, std430) readonly buffer From { uint from[]; };
layout(binding = 1, std430) buffer To { uint to[]; };
layout(binding = 2, std430) readonly buffer Parameters { uint count; uint addends[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) {
    uint sum = from[i];
    for (uint j = 0; j < addends.length(); ++j) {
      sum += addends[j];
    }
    to[i] = sum;
  }
}
