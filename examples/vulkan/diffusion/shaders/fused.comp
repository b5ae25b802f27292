// SPDX-License-Identifier: BSL-1.0
// All of the step for one cell, from one grid into another.
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) writeonly buffer After { float after[]; };
layout(set = 0, binding = 1) readonly buffer Now { float now[]; };

layout(push_constant) uniform Rates {
  uint size;
  uint periodic;
  float diffusion_u, diffusion_v, feed, keeps_u, keeps_v;
};

float diffused(uint field, uint north, uint south, uint row, uint west, uint east, uint column,
               float rate) {
  const uint stride = size + 2;
  const uint base = field * stride * stride;
  precise float change = now[base + north * stride + column] + now[base + south * stride + column];
  change = change + now[base + row * stride + west];
  change = change + now[base + row * stride + east];
  change = change - 4.0 * now[base + row * stride + column];
  return change * rate;
}

void main() {
  const uint column = gl_GlobalInvocationID.x + 1;
  const uint row = gl_GlobalInvocationID.y + 1;
  if (column > size) {
    return;
  }
  const bool wraps = periodic != 0;
  const uint north = wraps && row == 1 ? size : row - 1;
  const uint south = wraps && row == size ? 1 : row + 1;
  const uint west = wraps && column == 1 ? size : column - 1;
  const uint east = wraps && column == size ? 1 : column + 1;
  const uint stride = size + 2;
  const uint cell_u = row * stride + column;
  const uint cell_v = cell_u + stride * stride;
  const float u = now[cell_u];
  const float v = now[cell_v];
  precise float reaction = u * v;
  reaction = reaction * v;
  precise float change_of_u =
      diffused(0, north, south, row, west, east, column, diffusion_u) - reaction;
  precise float change_of_v =
      diffused(1, north, south, row, west, east, column, diffusion_v) + reaction;
  precise float new_u = u * keeps_u;
  new_u = new_u + feed;
  new_u = new_u + change_of_u;
  precise float new_v = v * keeps_v;
  new_v = new_v + change_of_v;
  after[cell_u] = new_u;
  after[cell_v] = new_v;
}
