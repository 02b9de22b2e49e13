// An attack on a process by its child, with or without a confinement.
#ifndef SLIPWAY_TESTS_SECURITY_ATTACK_H_
#define SLIPWAY_TESTS_SECURITY_ATTACK_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "core/confinement/confinement.h"

namespace slipway::testing {

// Who attacks, and is attacked. Root is bound by less than others are, and an agent need not be root: without root's powers it is
// nobody, where it may become so.
enum class User { kNobody, kOurs };

enum class Outcome : char { kEscaped = 'e', kStopped = 's', kBroken = 'b' };

// What an attacker does, told whom to attack.
using AttackBody = std::function<Outcome(pid_t victim)>;

// What holds an attacker back.
struct Bounds {
  Confinement confinement;
  // Of its address space, as an agent bounds a runner's; it can be set no more once it is confined.
  std::optional<int64_t> memory_bytes = std::nullopt;
};

// In two processes of their own, which then end: a victim, whom only bounds keep from being traced, and its child, which takes
// on the bounds, if there are any, and does `body`.
Outcome Attack(const AttackBody& body, const Bounds* bounds, User user = User::kNobody);

// Whether the part of the confinement is not to be had here.
bool Lacks(const Confinement& confinement, ConfinementPart part, User user = User::kNobody);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SECURITY_ATTACK_H_
