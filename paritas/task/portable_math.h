// exp and log from additions, multiplications and divisions alone. The C library picks variants with fused
// multiply-add by processor, so its last bit differs between machines; these give the same bits everywhere.
#pragma once

namespace paritas {

// Within 2 units in the last place for results in the normal range; subnormal results and underflow to 0 as expected.
double portable_exp(double x);

// Natural logarithm, within 3e-16 of the result's magnitude (absolute near x = 1); -inf for 0, NaN for negative x.
double portable_log(double x);

}  // namespace paritas
