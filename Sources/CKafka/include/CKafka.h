#ifndef CKafka_h
#define CKafka_h
#endif
