/// A value in a place of its own, so that what holds it is copied as one reference.
///
/// For what is large and seldom changes: a change puts a whole new value in the place of the old one.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
  private final class Place: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var place: Place

  package init(wrappedValue: Value) { place = Place(wrappedValue) }

  package var wrappedValue: Value {
    get { place.value }
    set { place = Place(newValue) }
  }

  /// The place itself, to be passed on without a copy of what is in it.
  package var projectedValue: Self {
    get { self }
    set { self = newValue }
  }

  /// A part of the value, without a copy of the rest.
  subscript<Part>(path: KeyPath<Value, Part>) -> Part { place.value[keyPath: path] }
}

extension Boxed: Equatable where Value: Equatable {
  package static func == (left: Self, right: Self) -> Bool {
    left.place === right.place || left.place.value == right.place.value
  }
}
