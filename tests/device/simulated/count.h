#pragma once

namespace slimbayes::simulated {

// What kernels tell the counters of simulated.h.
void count_kernel();
void count_item();
void count_to_device();
void count_to_host();

}  // namespace slimbayes::simulated
