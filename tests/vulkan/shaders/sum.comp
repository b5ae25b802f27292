// SPDX-License-Identifier: BSL-1.0
// to[i] += the sum of all parameters.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0, std430) buffer To { uint to[]; };
layout(binding = 1, std430) readonly buffer Parameters { uint parameters[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < to.length()) {
    for (uint j = 0; j < parameters.length(); ++j) {
      to[i] += parameters[j];
    }
  }
}
