/// Something that is wrong with an atomic store.
package struct AtomicFault: Sendable, Equatable {
  /// What is wrong.
  package enum Kind: Sendable, CaseIterable {
    /// Bytes of the file are gone or cannot be read.
    case damage
    /// The metadata have no version hashes.
    case metadata
    /// Values of classes that Core Data does not decode.
    case classes
    /// Ids that several objects have, or that the counter does not know.
    case ids
    /// References that one side has, or to objects that are missing.
    case links
    /// Objects or values that the model has no place for.
    case values
  }

  package var kind: Kind
  /// What was found.
  package var sentence: String
  /// How many objects, values or references.
  package var count: Int?

  package init(_ kind: Kind, _ sentence: String, count: Int? = nil) {
    (self.kind, self.sentence, self.count) = (kind, sentence, count)
  }
}
