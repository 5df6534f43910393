/* SANITIZED: is this build instrumented? Sanitizers reserve terabytes of
 * address space and handle the fault signals themselves, so limits on memory
 * and expectations about signals do not go with them. */
#ifndef IR_BASE_SANITIZED_H
#define IR_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
