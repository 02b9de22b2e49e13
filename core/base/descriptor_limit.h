// How many files and connections this process may hold open.
#ifndef SLIPWAY_CORE_BASE_DESCRIPTOR_LIMIT_H_
#define SLIPWAY_CORE_BASE_DESCRIPTOR_LIMIT_H_

namespace slipway {

// Raises the limit on open descriptors to the highest that this process may set (setrlimit(2), RLIMIT_NOFILE), and
// returns what it is then. Children begin with the raised limit.
int RaiseDescriptorLimit();

// What the limit is now.
int DescriptorLimit();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_DESCRIPTOR_LIMIT_H_
