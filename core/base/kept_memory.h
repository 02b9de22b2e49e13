// How much memory that was freed a process keeps for itself.
#ifndef SLIPWAY_CORE_BASE_KEPT_MEMORY_H_
#define SLIPWAY_CORE_BASE_KEPT_MEMORY_H_

namespace slipway {

// For processes that move bytes: from now on malloc keeps some MiB of what was freed, instead of giving pages back to the
// system and asking for them anew with the next message, where a fault for every 4 KiB costs more than the copying. It has
// an arena for two processors, instead of eight for each. Call it once, in main.
void KeepFreedMemory();

// Gives all that was freed back to the system; takes some ms for each GB.
void GiveBackFreedMemory();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_KEPT_MEMORY_H_
