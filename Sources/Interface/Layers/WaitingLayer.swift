import ManagedModel

/// A popup that waits for one piece of work at a time.
protocol WaitingLayer: LayerContent {
  var task: TaskID? { get set }
  /// Takes an answer to what it waits for.
  mutating func take(_ answer: Answer, in state: inout State) -> [Effect]
  /// What it waited for failed.
  mutating func fail(_ error: CoreDataError, in state: inout State) -> [Effect]
}

extension WaitingLayer {
  mutating func take(_ answer: Answer, to task: TaskID, in state: inout State) -> [Effect] {
    guard task == self.task else { return [] }
    if answer.isLast { self.task = nil }
    return take(answer, in: &state)
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect] {
    self.task.end(task) ? fail(error, in: &state) : []
  }

  mutating func cancel(in state: inout State) -> [Effect]? { task.stop() }
}

/// A popup that tells in its own lines why there is no answer, or no whole one.
protocol TellingLayer: WaitingLayer {
  var error: CoreDataError? { get set }
  /// What it says when its work was called off.
  var stopped: String { get }
}

extension TellingLayer {
  mutating func fail(_ error: CoreDataError, in state: inout State) -> [Effect] {
    self.error = error
    return []
  }

  mutating func cancel(in state: inout State) -> [Effect]? {
    guard let effects = task.stop() else { return nil }
    error = CoreDataError(.cancelled, stopped)
    return effects
  }
}
