import Files
import ManagedModel
import ManagedStore

extension FileSystem {
  /// Puts a placeholder of iCloud Drive in place of a file, as its `bird` does.
  public static func evict(_ path: String) throws {
    let size = status(path)?.size ?? 4096
    let list = PropertyListValue.dictionary([
      "NSURLFileResourceTypeKey": .string("NSURLFileResourceTypeRegular"),
      "NSURLFileSizeKey": .integer(Int64(size)),
      "NSURLNameKey": .string(name(of: path)),
    ])
    let folder = parent(of: path) ?? "."
    try write(PropertyList.binary(list), to: folder + "/." + name(of: path) + ".icloud")
    remove(path)
  }
}
