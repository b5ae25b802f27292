// SPDX-License-Identifier: BSL-1.0
// One operator of the step, from views of up to two operands into a view of a third, which may be one of them.
#version 450
layout(local_size_x = 64) in;

layout(constant_id = 0) const int operation = 0;

layout(set = 0, binding = 0) buffer Target { float target[]; };
layout(set = 0, binding = 1) readonly buffer A { float a[]; };
layout(set = 0, binding = 2) readonly buffer B { float b[]; };

layout(push_constant) uniform Views {
  uint columns;
  uint rows;
  uint target_offset, target_stride;
  uint a_offset, a_stride;
  uint b_offset, b_stride;
  float scalar;
};

void main() {
  const uint column = gl_GlobalInvocationID.x;
  const uint row = gl_GlobalInvocationID.y;
  if (column >= columns) {
    return;
  }
  const uint to = target_offset + row * target_stride + column;
  const uint from_a = a_offset + row * a_stride + column;
  const uint from_b = b_offset + row * b_stride + column;
  precise float result = 0;
  switch (operation) {
    case 0: result = a[from_a]; break;
    case 1: result = a[from_a] + b[from_b]; break;
    case 2: result = a[from_a] * b[from_b]; break;
    case 3: result = a[from_a] * scalar; break;
    case 4: result = target[to] + a[from_a]; break;
    case 5: result = target[to] - a[from_a]; break;
    case 6: result = target[to] * a[from_a]; break;
    case 7: result = target[to] * scalar; break;
    case 8: result = target[to] + scalar; break;
  }
  target[to] = result;
}
