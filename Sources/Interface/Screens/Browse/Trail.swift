import ManagedStore
import Terminal

/// The places that were left over relationships, to go back to and forward again.
struct Trail: Sendable, Equatable {
  /// A place as it was left: the rows with their arrangement, the row, the pane.
  struct Place: Sendable, Equatable {
    var table: RowTable
    var focus: BrowseScreen.Pane
    var object: ObjectID?
    /// Line of the inspector.
    var line: Int
    /// What it was left over.
    var relationship: String?
    /// The one object that it was left for.
    var target: ObjectID?
  }

  private var places = Past<Place>(limit: 100)

  var isEmpty: Bool { places.past.isEmpty }
  var hasFuture: Bool { !places.future.isEmpty }

  /// A place was left for another one.
  mutating func leave(_ place: Place) { places.left(place) }

  /// The place to go back to, or forward; `present` is kept for the other way.
  mutating func step(back: Bool, from present: Place) -> Place? {
    places.step(back: back) { place in
      var present = present
      (present.relationship, present.target) = (place.relationship, place.target)
      return present
    }
  }

  /// `Recipe/p12`, `author`, `Person/p3`, `recipes`: the way to an object, or to rows without one.
  ///
  /// Where somebody went on from another row than the one that was led to, `…` tells it.
  func steps(to object: ObjectID? = nil) -> [String] {
    var steps: [String] = []
    var target: ObjectID?
    for place in places.past {
      if let target, target != place.object { steps += [target.description, "…"] }
      steps.append(place.object?.description ?? place.table.entity)
      if let relationship = place.relationship { steps.append(relationship) }
      target = place.target
    }
    guard let object else { return steps }
    if let target, target != object { steps += [target.description, "…"] }
    return steps + [object.description]
  }

  /// Steps as a line, cut from the left when there is too little room.
  static func text(_ steps: [String], width: Int) -> String {
    var first = 0
    var text = steps.joined(separator: " › ")
    while TextWidth.of(text) > width, first < steps.count - 1 {
      first += 1
      text = "… › " + steps[first...].joined(separator: " › ")
    }
    return text
  }
}
