import Terminal

/// The number that is typed before a key: `12j`, and `012j` where 1 to 5 select the screens.
struct Count: Sendable, Equatable {
  /// More than anybody types on purpose.
  private static let digits = 9

  private(set) var text = ""

  var isEmpty: Bool { text.isEmpty }
  /// `nil` where none was typed; never 0.
  var number: Int? { text.isEmpty ? nil : max(1, Int(text) ?? 1) }

  /// Takes a digit, or Escape once there are some; `false` for a key that is none of its business.
  ///
  /// A number begins only where letters are keys, not text, and with a digit that no key stands for.
  mutating func take(_ key: Key, _ binding: (Key) -> Binding?) -> Bool {
    if key == .escape, !isEmpty {
      text = ""
      return true
    }
    guard case .character(let digit) = key, digit.isASCII, digit.isNumber else { return false }
    if isEmpty {
      guard binding("j")?.action.isMovement == true, binding(key) == nil else { return false }
    }
    if text.count < Self.digits { text.append(digit) }
    return true
  }
}

extension State {
  /// A count beyond this moves no further: rows have `:123456` for that.
  private static let mostSteps = 10_000

  /// Does it so many times, or until nothing changes any more.
  mutating func run(_ action: Action, _ key: Key, times: Int?) -> [Effect] {
    guard let times, action.isRepeatable else { return action.run(&self, key) }
    if action.isMovement, layers.isEmpty,
      let effects = on(front, { $0.move(key, times: times, in: &$1) })
    {
      return effects
    }
    // As in vim: 12G is the twelfth line.
    if action.isMovement, key == "G" || key == "g" {
      let home = action.run(&self, .home)
      return times == 1 ? home : run(action, .down, times: times - 1, before: home)
    }
    return run(action, key, times: times, before: [])
  }

  private mutating func run(
    _ action: Action, _ key: Key, times: Int, before: [Effect]
  ) -> [Effect] {
    var effects = before
    for _ in 0..<min(times, Self.mostSteps) {
      let former = self
      effects = Effect.joined(effects, action.run(&self, key))
      if former == self { break }
    }
    return effects
  }
}

extension Effect {
  /// The work it asks for, of the kinds that moving asks for.
  private var task: TaskID? {
    switch self {
    case .ask(let task, .rows), .ask(let task, .object), .ask(let task, .countRows),
      .ask(let task, .countBefore), .ask(let task, .place), .names(let task, _):
      task
    default: nil
    }
  }

  /// One after the other, without work that is called off before it began.
  static func joined(_ first: [Effect], _ second: [Effect]) -> [Effect] {
    var effects = first
    for effect in second {
      if case .cancel(let task) = effect,
        let index = effects.lastIndex(where: { $0.task == task })
      {
        effects.remove(at: index)
      } else {
        effects.append(effect)
      }
    }
    return effects
  }
}
