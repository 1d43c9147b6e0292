#ifndef CHTTP_h
#define CHTTP_h
#endif
