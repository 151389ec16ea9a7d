import ManagedModel
import Terminal

/// A part of the interface that has the keys: a screen, or a popup over one.
///
/// It is a value with all that it remembers. Keys come to it as what their bindings ask for, and
/// the answers to what it asked for (``Context/ask(_:_:)``) come to it and to no other.
protocol Component: Sendable, Equatable {
  /// The keys, with what each does here and now.
  func bindings(_ context: Context) -> [Binding]
  /// Has the component that the keys go to work on the state.
  static func work(
    on state: inout State, _ work: (inout Self, inout Context) -> LayerOutcome
  ) -> [Effect]
  /// Takes a key that is bound to nothing: text for a prompt.
  mutating func type(_ key: Key, in context: inout Context) -> [Effect]
  /// Takes the answer to one of its tasks, be it one that it has forgotten since.
  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect]
  /// One of its tasks failed, or was cancelled.
  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  /// Stops what it is waiting for; `nil` when it waits for nothing.
  mutating func cancel(in context: inout Context) -> [Effect]?
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect)
}

extension Component {
  mutating func type(_ key: Key, in context: inout Context) -> [Effect] { [] }
  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    []
  }
  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    []
  }
  mutating func cancel(in context: inout Context) -> [Effect]? { nil }

  mutating func take(
    _ result: Result<Answer, CoreDataError>, of task: TaskID, in context: inout Context
  ) -> [Effect] {
    switch result {
    case .success(let answer): take(answer, to: task, in: &context)
    case .failure(let error): fail(task, error, in: &context)
    }
  }

  func isEqual(to other: any Component) -> Bool { (other as? Self) == self }
}

/// Whose a piece of work is: its answers go there.
enum Owner: Sendable, Hashable {
  /// The state itself: the store is opened, and the versions of its model are looked for.
  case state
  case screen(Screen)
  case layer(Int)
}

/// Which work is whose.
struct Tasks: Sendable, Equatable {
  private var last = 0
  private var lastLayer = 0
  private var owners: [TaskID: Owner] = [:]

  mutating func new(for owner: Owner) -> TaskID {
    last += 1
    owners[TaskID(last)] = owner
    return TaskID(last)
  }

  /// The number of the next popup.
  mutating func newLayer() -> Int {
    lastLayer += 1
    return lastLayer
  }

  /// What was asked for distinguishes states; who has still to hear of it does not.
  static func == (left: Tasks, right: Tasks) -> Bool {
    (left.last, left.lastLayer) == (right.last, right.lastLayer)
  }

  /// Whose the task is; it is forgotten with its last answer.
  mutating func owner(of task: TaskID, isLast: Bool) -> Owner? {
    isLast ? owners.removeValue(forKey: task) : owners[task]
  }
}

extension State {
  /// Brings an answer, or an error, to the component that asked.
  mutating func take(_ result: Result<Answer, CoreDataError>, of task: TaskID) -> [Effect] {
    let isLast = (try? result.get())?.isLast ?? true
    switch tasks.owner(of: task, isLast: isLast) {
    case .state?: return takeOwn(result, of: task)
    case .screen(let screen)?:
      return on(screen) {
        let effects = $0.take(result, of: task, in: &$1)
        return effects + $0.meet(.settled, in: &$1)
      }
    case .layer(let id)?: return onLayer(id) { $0.take(result, of: task, in: &$1) } ?? []
    case nil: return []
    }
  }
}

extension TaskID? {
  /// Calls the work off; `nil` if none exists.
  mutating func stop() -> [Effect]? {
    defer { self = nil }
    return map { [.cancel($0)] }
  }

  /// Forgets the work where it is the one that is over; says whether it was.
  mutating func end(_ task: TaskID) -> Bool {
    guard self == task else { return false }
    self = nil
    return true
  }
}

/// Names one piece of work that was asked for, so that its answers can be distinguished from older ones.
package struct TaskID: Sendable, Hashable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}
