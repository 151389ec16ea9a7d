#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A library of the system that is opened when it is needed, and may not be there.
struct SharedLibrary: @unchecked Sendable {
  // Never closed: what was found in it stays valid.
  private let handle: UnsafeMutableRawPointer

  /// Opens the first of these that is there; `nil` where none is.
  init?(_ names: [String]) {
    for name in names {
      if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        self.handle = handle
        return
      }
    }
    return nil
  }

  /// A function by its name, as the @convention(c) type that its header gives it; `nil` where there
  /// is none.
  func function<Function>(_ name: String) -> Function? {
    // An address is all that a value of such a type holds.
    dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
  }
}
