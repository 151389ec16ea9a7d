import CPictures

/// What is called of libpng's simplified API, whose calls return instead of jumping.
struct PNGLibrary: Sendable {
  typealias Image = UnsafeMutablePointer<strata_png_image>
  typealias Begin = @convention(c) (Image, UnsafeRawPointer?, Int) -> Int32
  typealias Finish =
    @convention(c) (
      Image, UnsafeRawPointer?, UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?
    ) -> Int32
  typealias Free = @convention(c) (Image) -> Void

  /// png_image_begin_read_from_memory
  let begin: Begin
  /// png_image_finish_read
  let finish: Finish
  /// png_image_free
  let free: Free

  /// PNG_FORMAT_RGBA
  static let rgba: UInt32 = 3

  /// By the name that programs link, and by that which comes with its headers.
  static let library = SharedLibrary([
    "libpng16.so.16", "libpng16.so", "libpng16.16.dylib", "/opt/homebrew/lib/libpng16.16.dylib",
  ])

  /// `nil` where the library is not installed.
  static let installed = PNGLibrary()

  private init?() {
    guard let library = Self.library,
      let begin: Begin = library.function("png_image_begin_read_from_memory"),
      let finish: Finish = library.function("png_image_finish_read"),
      let free: Free = library.function("png_image_free")
    else { return nil }
    (self.begin, self.finish, self.free) = (begin, finish, free)
  }
}
