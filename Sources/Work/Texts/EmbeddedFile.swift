import CTexts

/// A file of the package that is in the binary: a table of sentences, an article or a theme.
package enum EmbeddedFile {
  /// - Parameter name: without the ending.
  /// - Returns: nothing where the program has no such file.
  package static func bytes(_ name: String) -> [UInt8] {
    let file = embedded_file(name)
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }
}
