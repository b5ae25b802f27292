// SPDX-License-Identifier: BSL-1.0
// Computes the entire step for one cell, from one grid into another.
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) writeonly buffer After { float after[]; };
layout(set = 0, binding = 1) readonly buffer Now { float now[]; };
layout(std430, set = 0, binding = 2) readonly buffer Parameters {
  uint size;
  float diffusion_u, diffusion_v, feed, keeps_u, keeps_v;
};

void main() {
  const uint column = gl_GlobalInvocationID.x + 1;
  const uint row = gl_GlobalInvocationID.y + 1;
  if (column > size) {
    return;
  }
  const uint stride = size + 2;
  const uint north = (row == 1 ? size : row - 1) * stride + column;
  const uint south = (row == size ? 1 : row + 1) * stride + column;
  const uint west = row * stride + (column == 1 ? size : column - 1);
  const uint east = row * stride + (column == size ? 1 : column + 1);
  const float rates[2] = {diffusion_u, diffusion_v};
  float values[2];
  float changes[2];
  for (uint field = 0; field < 2; ++field) {
    const uint base = field * stride * stride;
    values[field] = now[base + row * stride + column];
    precise float change = now[base + north] + now[base + south];
    change = change + now[base + west];
    change = change + now[base + east];
    change = change - 4.0 * values[field];
    changes[field] = change * rates[field];
  }
  precise float reaction = values[0] * values[1];
  reaction = reaction * values[1];
  precise float u = values[0] * keeps_u;
  u = u + feed;
  u = u + (changes[0] - reaction);
  precise float v = values[1] * keeps_v;
  v = v + (changes[1] + reaction);
  after[row * stride + column] = u;
  after[(stride + row) * stride + column] = v;
}
