import Migration

/// All that a person does and can take back: what is seen and how, the changes of the plan, and the losses
/// that are accepted.
///
/// ``State/done`` is the one list of what was done, each as the arrangement before it.
struct Arrangement: Sendable, Equatable {
  var view: ViewState
  /// Losses that are accepted of the plan.
  var losses: Set<String>
  /// The path of the version that the plan leads to.
  var version: String
  /// Changes of objects that are prepared.
  var prepared = PreparedEdits()

  /// Whether going to this one would change something: losses of a plan to another version are left alone.
  func differs(from present: Arrangement) -> Bool {
    view != present.view || prepared != present.prepared
      || version == present.version && losses != present.losses
  }

  /// What was done to make this one of a former one, in words.
  ///
  /// - Parameter shown: the one that is shown from now on.
  func deed(since former: Arrangement, shown: ViewState) -> String {
    if prepared != former.prepared {
      let (new, old) = (prepared.entries, former.prepared.entries)
      let added = new.filter { !old.contains($0) }.map(prepared.words)
      let removed = old.filter { !new.contains($0) }.map {
        "without “\(former.prepared.words(of: $0))”"
      }
      return (added + removed).joined(separator: ", ")
    }
    if view == former.view {
      return Self.words(losses.subtracting(former.losses), "accepted")
        ?? Self.words(former.losses.subtracting(losses), "refused") ?? ""
    }
    if view.mapping != former.view.mapping {
      let (new, old) = (view.mapping.all, former.view.mapping.all)
      let added = new.filter { !old.contains($0) }.map(\.text)
      let removed = old.filter { !new.contains($0) }.map { "without “\($0.text)”" }
      return (added + removed).joined(separator: ", ")
    }
    return ViewChange.words(from: shown == view ? former.view : view, to: shown)
  }

  private static func words(_ losses: Set<String>, _ verb: String) -> String? {
    guard let first = losses.first else { return nil }
    return losses.count == 1 ? "\(verb) the loss of \(first)" : "\(verb) \(losses.count) losses"
  }
}

extension MappingView {
  fileprivate var all: [MappingEdits.Edit] { edits.sorted { $0.key < $1.key }.flatMap(\.value.all) }
}

extension State {
  var arrangement: Arrangement {
    Arrangement(
      view: view, losses: mapping.allowedLosses, version: mapping.editsKey,
      prepared: known.prepared)
  }

  /// Records that something was done, where that can be taken back.
  mutating func did(since former: Arrangement) {
    if former.differs(from: arrangement) { done.left(former) }
  }

  /// Why there is nothing to go back to, or forward; `nil` where there is.
  func reasonNotToStep(back: Bool) -> String? {
    if back, isWriteNext { return nil }
    let now = arrangement
    return (back ? done.past : done.future).contains { $0.differs(from: now) }
      ? nil : back ? "nothing to undo" : "nothing was undone"
  }

  /// Whether what was done last is the writing of prepared changes, for which no notice has yet said that a rollback undoes it.
  private var isWriteNext: Bool { writtenAfter.map { done.past.count <= $0 } == true }

  /// Takes back what was done last, or does it again; what would change nothing any more is passed over.
  mutating func step(back: Bool) -> [Effect] {
    if back, isWriteNext {
      writtenAfter = nil
      let more = reasonNotToStep(back: true) == nil ? "; u again undoes what was done before" : ""
      notice = Notice("the write is undone by b on 4 Migrate (rollback)\(more)", .warning)
      return []
    }
    let now = arrangement
    while let next = done.step(back: back, from: { _ in now }) {
      guard next.differs(from: now) else { continue }
      // Another plan begins with the losses that are accepted of this one.
      if next.version == now.version { mapping.allowedLosses = next.losses }
      known.prepared = next.prepared
      let effects = arrange(next.view)
      let deed =
        back
        ? now.deed(since: next, shown: next.view) : next.deed(since: now, shown: next.view)
      if notice == nil {
        notice = Notice((back ? "undone" : "redone") + (deed.isEmpty ? "" : ": " + deed))
      }
      return effects
    }
    return []
  }

  /// Takes back what was done last to the prepared changes, and leaves what was done to the view since.
  mutating func unprepare() -> [Effect] {
    let now = arrangement
    let former = done.takeBack(now, { $0.prepared != now.prepared }) { $0.prepared = $1.prepared }
    guard let former else {
      notice = Notice("no change is prepared", .warning)
      return []
    }
    known.prepared = former.prepared
    notice = Notice("undone: " + now.deed(since: former, shown: now.view))
    return []
  }
}

/// What was left, to go back to it and forward again: arrangements, or places.
struct Past<Place: Sendable & Equatable>: Sendable, Equatable {
  /// The most that are kept.
  let limit: Int
  private(set) var past: [Place] = []
  private(set) var future: [Place] = []

  init(limit: Int) { self.limit = limit }

  /// A place was left for another one: it can be had again.
  mutating func left(_ place: Place) {
    past.append(place)
    if past.count > limit { past.removeFirst() }
    future = []
  }

  /// Changes all that are kept.
  mutating func changeAll(_ change: (inout Place) -> Void) {
    for index in past.indices { change(&past[index]) }
    for index in future.indices { change(&future[index]) }
  }

  /// Takes the last step back that began at such a place, from among those that followed.
  ///
  /// - Parameter change: makes one of the places since as if that step had not been.
  /// - Returns: the place at which it began; `nil` if none exists.
  mutating func takeBack(
    _ present: Place, _ fits: (Place) -> Bool, _ change: (inout Place, Place) -> Void
  ) -> Place? {
    guard let index = past.lastIndex(where: fits) else { return nil }
    let place = past.remove(at: index)
    for later in index..<past.count { change(&past[later], place) }
    future.append(present)
    return place
  }

  /// The place to go back to, or forward; what is left for it is kept for the other way.
  mutating func step(back: Bool, from present: (Place) -> Place) -> Place? {
    guard let place = back ? past.popLast() : future.popLast() else { return nil }
    if back { future.append(present(place)) } else { past.append(present(place)) }
    return place
  }
}
