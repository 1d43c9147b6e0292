import Gate

/// One event on its way through the machine.
struct MachineStep {
  let event: PreferenceEvent
  let known: KnownState
  let nowMs: Int64
  let machine: PreferenceMachine

  mutating func run() -> Transition { Transition(outcome: .unchanged) }
}
