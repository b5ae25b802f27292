// SPDX-License-Identifier: BSL-1.0
// Arithmetic in a domain; see elements.glsl. No product and sum are contracted to one operation.

Value plus(Value a, Value b) {
  precise Value sum = a + b;
  return sum;
}

Value times(Value a, Value b) {
#if DOMAIN == 3
  precise float ac = a.x * b.x;
  precise float bd = a.y * b.y;
  precise float ad = a.x * b.y;
  precise float bc = a.y * b.x;
  precise vec2 product = vec2(ac - bd, ad + bc);
#else
  precise Value product = a * b;
#endif
  return product;
}
