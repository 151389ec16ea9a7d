import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Files of external data that an edit makes, in a private folder until the store is put in place.
///
/// A file is never written a second time: a new value has a new name, and what the row named before stays for the
/// backup.
final class EditedFiles {
  private var folder: PrivateFolder?
  private var names: [String] = []

  /// The files, for who puts them beside the store.
  var added: AddedFiles { folder.map { AddedFiles(names, in: $0.path) } ?? AddedFiles() }

  /// A value as its column holds it: large data in a file, where the attribute allows that.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a value of another type.
  func column(
    of value: AttributeValue, for attribute: Attribute, in entity: String
  ) throws -> Value {
    guard case .bytes(let bytes) = value, attribute.allowsExternalBinaryDataStorage,
      bytes.count > StoreWriter.externalThreshold
    else { return try attribute.column(of: value, in: entity) }
    let place = try folder ?? PrivateFolder(.disk)
    folder = place
    let name = UUIDText.random()
    let file = try Folder(place.path).create(name)
    try file.append(bytes)
    FileAttributes.makeOrdinary(file)
    names.append(name)
    return .blob(MarkedBytes.file(name: name).column)
  }
}
