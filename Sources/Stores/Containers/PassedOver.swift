/// A file that is named as a store is, and that is none.
package struct PassedOver: Sendable, Equatable {
  /// Its path in the container.
  package let name: String
  /// Why it is none, as a clause.
  package let reason: String

  /// What a person should know of it.
  package var sentence: String { "\(EntryName.quoted(name)) was passed over: \(reason)." }
}

extension Container {
  /// The files of that kind in the folder of a store: one of them may be meant.
  package func passedOver(beside store: String) -> [PassedOver] {
    let folder = EntryName.folder(of: store)
    return passedOver.filter { EntryName.folder(of: $0.name) == folder }
  }
}
