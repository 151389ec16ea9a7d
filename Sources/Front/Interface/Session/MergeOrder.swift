/// Two stores that are to become one, as they are asked for.
package struct MergeOrder: Sendable, Equatable {
  /// The other store, beside the one that is open.
  package var other: String
  /// Whether the other one is the newer store, which the open one's objects come to.
  package var isOtherNewer = false
  /// The copy that both come from; empty if none exists.
  package var base = ""
  /// How objects are paired, as words of `--match`.
  package var matches = ""
  /// Whose values count, as words of `--prefer`.
  package var preferences = ""
  /// The entities whose objects are taken over; empty for all.
  package var entities = ""
  /// Whether what was deleted in the newer store stays deleted.
  package var keepsDeleted = false
  /// Where the result is written; empty to find out what it would be.
  package var output = ""

  init(other: String) { self.other = other }

  /// ``entities`` by name.
  package var entityNames: [String] {
    entities.split { $0 == " " || $0 == "," }.map(String.init)
  }

  /// A text in its words.
  package static func words(_ text: String) -> [String] {
    text.split(separator: " ").map(String.init)
  }
}
